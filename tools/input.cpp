#include "tools/input.h"

namespace grapnel {

Expected<OpenedGraph> OpenInput(llvm::StringRef path, llvm::StringRef title) {
  return OpenedGraph::Open(path, title, "--graph");
}

Expected<std::vector<OpenedGraph>> OpenEachInput(llvm::StringRef path, llvm::StringRef title) {
  return OpenedGraph::OpenEach(path, title, "--graph");
}

void AddSignatureFlag(CommandLine& line, std::string& signature) {
  line.Option("--signature", signature,
              "only the network that this signature of a SavedModel runs, as a graph of its own")
      .ShownAs("NAME");
}

Error TakeGiven(llvm::StringRef signature, const GivenSizes& sizes, OpenedGraph* opened) {
  if (signature.empty()) return FillSizes(sizes, {}, opened);
  return TakeSignature(signature, sizes, opened).takeError();
}

Error HoldsOneGraph(llvm::StringRef output, size_t graphs) {
  return MakeError("{0}: cannot hold what comes of {1} graphs: name one by --graph", output,
                   graphs);
}

Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title,
                          llvm::ArrayRef<llvm::StringRef> outputs, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command) {
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenEachInput(path, title));
  if (graphs.size() == 1) return command(graphs.front());
  for (llvm::StringRef output : outputs) {
    if (!output.empty()) return HoldsOneGraph(output, graphs.size());
  }
  if (invocation.flags.json) return HoldsOneGraph("--json", graphs.size());
  llvm::raw_ostream& os = invocation.out();
  int worst = kExitOk;
  for (OpenedGraph& graph : graphs) {
    const std::string& name = graph.file().title;
    os << (&graph == &graphs.front() ? "" : "\n") << "--- " << name << "\n";
    os.flush();  // before what the command says on stderr
    auto code = command(graph);
    os.flush();
    if (!code) {
      invocation.err() << "grapnel: graph '" << name << "': " << TextOf(code.takeError()) << "\n";
      code = kExitBadInput;
    }
    worst = std::max(worst, *code);
  }
  return worst;
}

}  // namespace grapnel
