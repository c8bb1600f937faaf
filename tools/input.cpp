#include "tools/input.h"

#include "lib/ir/verify.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"

namespace grapnel {

Expected<InputGraph> OpenInput(llvm::StringRef path, llvm::StringRef title) {
  InputGraph input;
  ASSIGN_OR_RETURN(input.model, OpenModel(path));
  auto& graphs = input.model.graphs;
  if (!title.empty() || graphs.size() > 1) {
    std::string titles;
    bool found = false;
    for (size_t i = 0; i < graphs.size() && !found; ++i) {
      found = graphs[i].title == title;
      if (found) input.index = i;
      titles += (i ? ", '" : "'") + graphs[i].title + "'";
    }
    if (!found)
      return MakeError("{0}: holds {1} graphs: name one by --graph: {2}", path, graphs.size(),
                       titles);
  }
  if (!input.graph().module) {
    ASSIGN_OR_RETURN(input.graph().module, OpenGraph(input.graph().path));
  }
  llvm::StringRef name = llvm::sys::path::filename(path.rtrim('/'));
  // A case folder is called by its own name, a file by what comes before its suffix.
  if (input.model.kind != FileKind::kCaseFolder) name = name.split('.').first;
  input.name = path == "-" || name.empty() ? "graph" : name.str();
  return input;
}

Expected<Ends> EndsOf(const InputGraph& input, llvm::ArrayRef<std::string> feeds,
                      llvm::ArrayRef<std::string> fetches, llvm::StringRef signature) {
  Ends ends;
  const GraphInFile& graph = input.model.graphs[input.index];
  const Signature* chosen = nullptr;
  std::string names;
  for (const Signature& candidate : graph.signatures) {
    names += (names.empty() ? "'" : ", '") + candidate.name + "'";
    if (signature == candidate.name || (signature.empty() && candidate.name == "serving_default"))
      chosen = &candidate;
  }
  if (!signature.empty() && !chosen) {
    return MakeError("{0}: there is no signature '{1}'; it has {2}", input.model.path, signature,
                     names.empty() ? "none" : names);
  }
  if (const auto& values = input.model.case_info) {
    for (const auto& feed : values->feeds) ends.feeds.push_back(feed.tensor);
    for (const auto& fetch : values->fetches) ends.fetches.push_back(fetch.tensor);
  } else if (chosen) {
    for (const auto& tensor : chosen->inputs) ends.feeds.push_back(tensor.tensor);
    for (const auto& tensor : chosen->outputs) ends.fetches.push_back(tensor.tensor);
  }
  if (!feeds.empty()) ends.feeds.assign(feeds.begin(), feeds.end());
  if (!fetches.empty()) ends.fetches.assign(fetches.begin(), fetches.end());
  return ends;
}

namespace {

std::vector<Problem> ProblemsOf(const InputGraph& input) {
  std::vector<Problem> problems = input.model.problems;
  const Module& module = *input.model.graphs[input.index].module;
  for (Problem& problem : AllProblems(module)) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace

std::vector<std::string> ProblemLines(const InputGraph& input) {
  std::vector<std::string> lines;
  for (const Problem& problem : ProblemsOf(input)) {
    lines.push_back(input.model.path + ": " +
                    (problem.severity == Severity::kError ? "" : "warning: ") + problem.ToString());
  }
  return lines;
}

Error DemandValid(const InputGraph& input, const MessageSink& sink) {
  std::vector<std::string> errors;
  for (const Problem& problem : ProblemsOf(input)) {
    std::string line = input.model.path + ": " + problem.ToString();
    if (problem.severity == Severity::kError) {
      errors.push_back(std::move(line));
    } else if (sink) {
      sink(problem.severity, line);
    }
  }
  if (errors.empty()) return Error::success();
  std::string text;
  size_t shown = std::min<size_t>(errors.size(), 20);
  for (size_t i = 0; i < shown; ++i) text += (i ? "\n" : "") + errors[i];
  if (errors.size() > shown)
    text +=
        llvm::formatv("\n... and {0} more (`grapnel info` lists them all)", errors.size() - shown)
            .str();
  return MakeError("{0}", text);
}

}  // namespace grapnel
