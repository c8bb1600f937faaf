// Writes the input of Google's Model Explorer: graphs, node data, and which nodes of two graphs
// correspond. Nodes are identified by name, so that ids stay the same when nodes are added and
// removed (Model Explorer's own TensorFlow adapter numbers the nodes).
//
// The formats are those of ai-edge-model-explorer 0.1.34: graph_builder.py, node_data_builder.py.
#ifndef GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_
#define GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_

#include <map>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The main graph or a function's body as a graph of Model Explorer.
struct ExplorerGraph {
  std::string id;  // the function's name; "main" for the main graph (main_ if taken)
  const Graph* graph;
  // Ids by NodeId: the node's name, or "function/node" in a function, so that ids are unique in the
  // collection. If a broken graph has two nodes with one name, the second id is name#2.
  std::vector<std::string> node_ids;
};
// The main graph, then the functions in the file's order.
std::vector<ExplorerGraph> ExplorerGraphs(const Module& module);

// Writes a collection of all graphs, one node per line. A node that calls functions links to their
// graphs. A control edge runs from output "control" to input "^0", "^1", ...; an edge overlay
// contains all control edges. A dangling input becomes an attribute of the node. Infers the shapes
// of each body.
void WriteModelExplorer(const Module& module, llvm::StringRef label, llvm::raw_ostream& os);

enum class NodeDataKind {
  kOpCost,         // estimated floating point operations (lib/shape/flops.h), if known
  kConstantBytes,  // size of each constant's value, uncompressed
};
// Writes the number of `kind` for each node that has one, by the ids of WriteModelExplorer.
void WriteNodeData(const Module& module, NodeDataKind kind, llvm::raw_ostream& os);
// Writes numbers of the caller's, called `name`. The keys of `numbers` are nodes, "function/node"
// in functions; other keys are left out.
void WriteNodeData(const Module& module, llvm::StringRef name,
                   const std::map<std::string, double>& numbers, llvm::raw_ostream& os);

// Writes the correspondence of A's and B's nodes for two panes: matched pairs, fusions and splits,
// by the ids of WriteModelExplorer. Other nodes have no counterpart, even if both graphs have a
// node of that name.
void WriteSyncNavigation(const Diff& diff, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_MODEL_EXPLORER_H_
