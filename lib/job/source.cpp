#include "lib/job/source.h"

#include <set>

#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;

// Returns an error that lists nearby lines that create nodes.
Error NoNodeAt(const LineTable& lines, const Module& module, llvm::StringRef text) {
  SourcePlace place = SourcePlace::Parse(text);
  std::vector<llvm::StringRef> files = lines.Files();
  if (files.empty()) return MakeError("the graph has no source lines");
  SourcePlace file{place.file, 0};
  std::set<int> numbers;
  for (const Node& node : lines.NodesAt(file, module)) {
    for (const SourceFrame& frame : lines.StackOf(node)) {
      if (file.Has(frame)) numbers.insert(frame.line);
    }
  }
  if (numbers.empty()) return NotFound("file", place.file, files);
  std::vector<int> near(numbers.begin(), numbers.end());
  constexpr size_t kMost = 6;
  llvm::stable_sort(
      near, [&](int a, int b) { return std::abs(a - place.line) < std::abs(b - place.line); });
  near.resize(std::min(kMost, near.size()));
  llvm::sort(near);
  std::string list;
  for (int line : near) list += (list.empty() ? "" : ", ") + std::to_string(line);
  return MakeError("line {0} of {1} creates no node; the nearest lines that do: {2}", place.line,
                   place.file, list);
}

}  // namespace

LineTable LinesOf(const OpenedGraph& opened) {
  const GraphInFile* file = &opened.file();
  if (!file->whole) return LinesOf(opened.model(), opened.module());
  std::string function;
  for (; file->whole; file = file->whole)
    if (function.empty()) function = file->function;
  LineTable lines = LinesOf(opened.model(), *file->module);
  lines.SetMainFunction(std::move(function));
  return lines;
}

std::string StackOfMessage(const OpenedGraph& opened, llvm::StringRef message) {
  return StackOfMessage(message, LinesOf(opened), opened.module());
}

Error WithStack(const OpenedGraph& opened, Error error) {
  if (!error) return error;
  std::string text = TextOf(std::move(error));
  return MakeError("{0}{1}", text, StackOfMessage(opened, text));
}

Expected<std::vector<Node>> NodesOfLine(const LineTable& lines, const Module& module,
                                        llvm::StringRef place) {
  std::vector<Node> nodes = lines.NodesAt(SourcePlace::Parse(place), module);
  if (nodes.empty()) return NoNodeAt(lines, module, place);
  return nodes;
}

std::string TextOfLine(llvm::StringRef model_path, const SourceFrame& frame) {
  auto text = ReadSourceText(model_path, frame, /*around=*/0, SourceReach::kAnywhere);
  return text && !text->lines.empty() ? llvm::StringRef(text->lines[0]).trim().str() : "";
}

void WriteStack(const LineTable::Stack& stack, llvm::StringRef model_path, llvm::raw_ostream& os) {
  constexpr int kAround = 2;
  for (const SourceFrame& frame : llvm::reverse(stack)) {
    os << "  at " << FrameText(frame) << "\n";
    if (IsFrameworkFile(frame.file)) continue;
    std::optional<SourceText> text =
        ReadSourceText(model_path, frame, kAround, SourceReach::kAnywhere);
    if (!text && !frame.code.empty()) text = SourceText{frame.line, {frame.code.str()}};
    if (!text) continue;
    size_t width = std::to_string(text->first + static_cast<int>(text->lines.size()) - 1).size();
    for (size_t i = 0; i < text->lines.size(); ++i) {
      int number = text->first + static_cast<int>(i);
      os << (number == frame.line ? "   > " : "     ")
         << llvm::right_justify(std::to_string(number), width)
         << (text->lines[i].empty() ? "" : "  ") << text->lines[i] << "\n";
    }
  }
}

void WriteStackJson(const LineTable::Stack& stack, llvm::json::OStream& json) {
  json.array([&] {
    for (const SourceFrame& frame : stack) {
      json.object([&] {
        json.attribute("file", fixUTF8(frame.file));
        json.attribute("line", frame.line);
        if (frame.column > 0) json.attribute("column", frame.column);
        json.attribute("function", fixUTF8(frame.function));
        if (!frame.code.empty()) json.attribute("code", fixUTF8(frame.code));
        json.attribute("is_users", !IsFrameworkFile(frame.file));
      });
    }
  });
}

}  // namespace grapnel
