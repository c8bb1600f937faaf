// What Google's Model Explorer reads: graphs and node data, under names that stay when nodes come
// and go (its own TensorFlow adapter numbers them).
//
// The formats are those of ai-edge-model-explorer 0.1.34: graph_builder.py, node_data_builder.py.
#ifndef GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_
#define GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// One body as Model Explorer knows it.
struct ExplorerGraph {
  std::string id;  // the function's name; the main graph is "main" (main_ where a function is that)
  const Graph* graph;
  // By NodeId: the node's name, in a function "function/node" as everywhere in grapnel, so that no
  // two graphs share one. Of nodes with one name, which only a broken graph has, the second is
  // name#2.
  std::vector<std::string> node_ids;
};
// The main graph, then the functions in the file's order.
std::vector<ExplorerGraph> ExplorerGraphs(const Module& module);

// A collection of all graphs, one node a line. A node that calls functions leads to their graphs. A
// control edge comes from output "control" and goes to input "^0", "^1", ...; all of them are an
// edge overlay too. An input that dangles is an attribute. Infers the shapes of each body.
void WriteModelExplorer(const Module& module, llvm::StringRef label, llvm::raw_ostream& os);

enum class NodeDataKind {
  kOpCost,         // estimated floating point operations (lib/shape/flops.h), where they are known
  kConstantBytes,  // bytes of each constant's value, in full
};
// A number for each node that has one, by the ids of WriteModelExplorer.
void WriteNodeData(const Module& module, NodeDataKind kind, llvm::raw_ostream& os);

// Which nodes of A are which of B, for two panes: matched pairs and fusions, by the ids of
// WriteModelExplorer. What is in neither leads nowhere, even where both graphs have the name.
void WriteSyncNavigation(const Diff& diff, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_
