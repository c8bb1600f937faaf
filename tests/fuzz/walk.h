// Queries everything in a module that a command would, for fuzz targets and tests of damaged files.
#ifndef GRAPNEL_TESTS_FUZZ_WALK_H_
#define GRAPNEL_TESTS_FUZZ_WALK_H_

#include <memory>
#include <string>

#include "lib/io/open.h"
#include "lib/io/write.h"
#include "lib/ir/import.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"

namespace grapnel {

inline void Walk(Module& module) {
  size_t bytes = 0;
  for (const Problem& problem : module.problems) bytes += problem.ToString().size();
  for (const Body& body : Bodies(module)) {
    const Graph& graph = *body.graph;
    for (Node node : graph.nodes()) {
      bytes += node.name().size() + node.op().size() + node.device().size();
      for (Port port : node.inputs()) {
        if (port.node != kNoNode) bytes += PortText(graph, port).size() + TypeOfPort(graph, port);
      }
      for (const auto& [key, value] : node.Attrs()) {
        bytes += key.size() + value.ToString().size() + value.FuncNames().size();
        if (!value.AsTensor()) continue;
        auto literal = Literal::FromTensorProto(*value.AsTensor());
        if (!literal) {
          llvm::consumeError(literal.takeError());
          continue;
        }
        bytes += literal->ToString().size();
        if (literal->byte_size() < 1 << 20)
          bytes += literal->ToTensorProto(true).size() + literal->Hash() % 2;
      }
      bytes += NumOutputs(node);
    }
    bytes += TopologicalOrder(graph).size();
  }
  std::string exported;
  llvm::raw_string_ostream os(exported);
  ExportGraphDef(module, os);
  bytes += exported.size() + GraphText(module).size();
  volatile size_t sink = bytes;  // keeps the optimizer from dropping the walk
  (void)sink;
}

// Expects an error for input that is not a model; walks every graph of a model.
inline void OpenAndWalk(llvm::StringRef bytes) {
  auto model = OpenModelBytes(FileBytes::FromString(bytes.str(), "input"));
  if (!model) {
    llvm::consumeError(model.takeError());
    return;
  }
  for (GraphInFile& graph : model->graphs) {
    if (graph.module) Walk(*graph.module);
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_FUZZ_WALK_H_
