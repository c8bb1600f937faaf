#include "tools/input.h"

#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {

namespace {

// `several`: all graphs of a text are wanted, when no title says which.
Expected<InputGraph> Open(llvm::StringRef path, llvm::StringRef title, bool several) {
  InputGraph input;
  ASSIGN_OR_RETURN(input.model, OpenModel(path));
  auto& graphs = input.model.graphs;
  several &= title.empty() && input.model.kind == FileKind::kText;
  if (!title.empty() || (graphs.size() > 1 && !several)) {
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

}  // namespace

Expected<InputGraph> OpenInput(llvm::StringRef path, llvm::StringRef title) {
  return Open(path, title, /*several=*/false);
}

Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title, Invocation& invocation,
                          llvm::function_ref<Expected<int>(InputGraph&)> command) {
  ASSIGN_OR_RETURN(InputGraph input, Open(path, title, /*several=*/true));
  bool several =
      input.model.kind == FileKind::kText && title.empty() && input.model.graphs.size() > 1;
  if (!several) return command(input);
  int worst = kExitOk;
  for (; input.index < input.model.graphs.size(); ++input.index) {
    invocation.out() << (input.index ? "\n" : "") << "--- " << input.graph().title << "\n";
    auto code = command(input);
    if (!code) return Annotate("graph '" + input.graph().title + "'", code.takeError());
    worst = std::max(worst, *code);
  }
  return worst;
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
