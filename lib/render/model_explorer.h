// Writes the input of Google's Model Explorer: graphs and node data, with names that stay the same
// when nodes are added and removed (its own TensorFlow adapter numbers them).
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

// One body as Model Explorer sees it.
struct ExplorerGraph {
  std::string id;  // the function's name; "main" for the main graph (main_ if taken)
  const Graph* graph;
  // By NodeId: the node's name, in a function "function/node" as everywhere in grapnel, so that no
  // two graphs share one. If a broken graph has two nodes with one name, the second is name#2.
  std::vector<std::string> node_ids;
};
// The main graph, then the functions in the file's order.
std::vector<ExplorerGraph> ExplorerGraphs(const Module& module);

// Writes a collection of all graphs, one node a line. A node that calls functions links to their
// graphs. A control edge runs from output "control" to input "^0", "^1", ...; all of them are also
// an edge overlay. A dangling input is an attribute. Infers the shapes of each body.
void WriteModelExplorer(const Module& module, llvm::StringRef label, llvm::raw_ostream& os);

enum class NodeDataKind {
  kOpCost,         // estimated floating point operations (lib/shape/flops.h), if they are known
  kConstantBytes,  // bytes of each constant's value, in full
};
// Writes a number for each node that has one, by the ids of WriteModelExplorer.
void WriteNodeData(const Module& module, NodeDataKind kind, llvm::raw_ostream& os);

// Writes the correspondence of A's and B's nodes for two panes: matched pairs and fusions, by the
// ids of WriteModelExplorer. Other nodes have no counterpart, even if both graphs have the name.
void WriteSyncNavigation(const Diff& diff, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_
