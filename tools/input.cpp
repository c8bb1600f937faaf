#include "tools/input.h"

#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {

Expected<InputGraph> OpenInput(llvm::StringRef path, llvm::StringRef title) {
  InputGraph input;
  ASSIGN_OR_RETURN(input.model, OpenModel(path));
  auto& graphs = input.model.graphs;
  if (!title.empty() || graphs.size() > 1) {
    std::vector<std::string> titles;
    bool found = false;
    for (size_t i = 0; i < graphs.size() && !found; ++i) {
      found = graphs[i].title == title;
      if (found) input.index = i;
      titles.push_back(graphs[i].title);
    }
    if (!found && title.empty())
      return MakeError("{0}: holds {1} graphs: name one by --graph: '{2}'", path, graphs.size(),
                       llvm::join(titles, "', '"));
    if (!found) return Annotate(path, NotFound("graph", title, titles));
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
  ASSIGN_OR_RETURN(Ends ends, EndsOf(input.model, input.model.graphs[input.index], signature));
  if (!feeds.empty()) ends.feeds.assign(feeds.begin(), feeds.end());
  if (!fetches.empty()) ends.fetches.assign(fetches.begin(), fetches.end());
  return ends;
}

std::vector<std::string> ProblemLines(const InputGraph& input) {
  std::vector<std::string> lines;
  for (const Problem& problem : ProblemsOf(input.model, input.model.graphs[input.index])) {
    lines.push_back(input.model.path + ": " +
                    (problem.severity == Severity::kError ? "" : "warning: ") + problem.ToString());
  }
  return lines;
}

Error DemandValid(const InputGraph& input, const MessageSink& sink) {
  return DemandValid(input.model, input.model.graphs[input.index], sink);
}

}  // namespace grapnel
