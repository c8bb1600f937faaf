#include "tools/input.h"

namespace grapnel {

Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command) {
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenedGraph::OpenEach(path, title));
  if (graphs.size() == 1) return command(graphs.front());
  int worst = kExitOk;
  for (OpenedGraph& graph : graphs) {
    const std::string& name = graph.file().title;
    invocation.out() << (&graph == &graphs.front() ? "" : "\n") << "--- " << name << "\n";
    auto code = command(graph);
    if (!code) return Annotate("graph '" + name + "'", code.takeError());
    worst = std::max(worst, *code);
  }
  return worst;
}

}  // namespace grapnel
