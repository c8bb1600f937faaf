#include "lib/tfdbg/autograph_source.h"

#include <map>
#include <set>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Names = std::set<llvm::StringRef>;

// Returns the words of a line of Python that may be identifiers, without those that AutoGraph adds.
Names NamesOf(llvm::StringRef line) {
  Names names;
  auto is_part = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t i = 0; i < line.size();) {
    if (!is_part(line[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < line.size() && is_part(line[end])) ++end;
    llvm::StringRef name = line.slice(i, end);
    bool is_own = name == "ag__" || name == "ld" || name == "converted_call" || name == "None" ||
                  name.starts_with("fscope") || llvm::isDigit(name[0]);
    if (!is_own) names.insert(name);
    i = end;
  }
  return names;
}

// The lines [begin, end) of a function in a source file, counted from 0: its def, and the lines
// after it that are blank or indented deeper.
struct Definition {
  int source = -1;
  size_t begin = 0, end = 0;
};

class UserFiles {
 public:
  explicit UserFiles(const DebugRun& run) {
    for (size_t s = 0; s < run.sources.size(); ++s) {
      lines_.push_back(SourceLines(run.sources[s]));
      if (!run.sources[s].is_framework) FindDefinitions(static_cast<int>(s));
    }
  }
  llvm::ArrayRef<llvm::StringRef> Lines(int source) const { return lines_[source]; }
  const Definition* Find(llvm::StringRef function) const {
    auto found = definitions_.find(function);
    return found != definitions_.end() && found->second.size() == 1 ? &found->second[0] : nullptr;
  }

 private:
  void FindDefinitions(int source) {
    llvm::ArrayRef<llvm::StringRef> lines = lines_[source];
    auto indent = [](llvm::StringRef line) { return line.size() - line.ltrim(" \t").size(); };
    for (size_t i = 0; i < lines.size(); ++i) {
      llvm::StringRef text = lines[i].ltrim(" \t");
      if (!text.consume_front("def ")) continue;
      size_t end = i + 1;
      while (end < lines.size() &&
             (lines[end].trim().empty() || indent(lines[end]) > indent(lines[i])))
        ++end;
      llvm::StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      definitions_[name].push_back({source, i, end});
    }
  }

  std::vector<std::vector<llvm::StringRef>> lines_;
  std::map<llvm::StringRef, std::vector<Definition>> definitions_;
};

}  // namespace

bool IsAutographFile(llvm::StringRef path) { return path.contains("__autograph_generated_file"); }

void MapAutographFrames(DebugRun* run) {
  auto is_made = [&](const DebugFrame& frame) {
    return frame.source >= 0 && IsAutographFile(run->sources[frame.source].path);
  };
  if (llvm::none_of(run->frames, is_made)) return;
  UserFiles files(*run);
  for (DebugFrame& frame : run->frames) {
    if (!is_made(frame)) continue;
    // AutoGraph names the generated function tf__NAME, or just NAME.
    llvm::StringRef function = frame.function;
    function.consume_front("tf__");
    const Definition* definition = files.Find(function);
    llvm::ArrayRef<llvm::StringRef> made = files.Lines(frame.source);
    if (!definition || frame.line < 1 || static_cast<size_t>(frame.line) > made.size()) continue;
    Names names = NamesOf(made[frame.line - 1]);
    size_t best = definition->begin;
    double best_share = 0;
    for (size_t i = definition->begin; i < definition->end; ++i) {
      Names here = NamesOf(files.Lines(definition->source)[i]);
      auto in_both = llvm::count_if(here, [&](llvm::StringRef name) { return names.count(name); });
      size_t in_any = names.size() + here.size() - in_both;
      double share = in_any ? static_cast<double>(in_both) / static_cast<double>(in_any) : 0;
      if (share > best_share) {
        best_share = share;
        best = i;
      }
    }
    frame.source = definition->source;
    frame.line = static_cast<int>(best) + 1;
  }
}

}  // namespace grapnel
