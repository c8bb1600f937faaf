// A graph of which the vertices are not nodes but dtypes of nodes: each dtype that a node has by an
// attribute, or by its op's definition, with the ports that have it. What is painted half is such a
// vertex, for a node may take one dtype in half and another in float.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_TYPE_GRAPH_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_TYPE_GRAPH_H_

#include <vector>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel::auto_mixed_precision {

struct TypeVertex {
  Node node;
  std::string attr;  // empty: the dtype is fixed by the op
  int index = -1;    // in the list that the attribute is; -1: it is no list
  DataType type = proto::DT_INVALID;
  llvm::SmallVector<int, 2> inputs, outputs;  // ports of this dtype
  llvm::SmallVector<int, 4> from, to;         // vertices
};

class TypeGraph {
 public:
  // An error names a node that says too little of its dtypes.
  static Expected<TypeGraph> Make(const Graph& graph);

  int size() const { return static_cast<int>(vertices_.size()); }
  const TypeVertex& operator[](int i) const { return vertices_[i]; }
  // The vertices of a node.
  llvm::ArrayRef<int> Of(const Node& node) const { return nodes_[node.id()].vertices; }
  int OfInput(const Node& node, int port) const { return nodes_[node.id()].inputs[port]; }
  int OfOutput(Port port) const { return nodes_[port.node].outputs[port.index]; }
  // The vertex of an attribute that is no list; -1 when there is none.
  int OfAttr(const Node& node, llvm::StringRef attr) const;
  // Whether the node was there when the graph was made.
  bool Has(const Node& node) const { return node.id() < nodes_.size(); }

  void AddEdge(int from, int to);

  // Every vertex that is reached from `root` through vertices that may be entered, `root` among
  // them.
  enum Direction { kFromInputs = 1, kToOutputs = 2, kBoth = 3 };
  void Walk(int root, Direction direction, llvm::function_ref<bool(int)> enter,
            llvm::function_ref<void(int)> visit) const;

 private:
  struct NodeVertices {
    llvm::SmallVector<int, 2> vertices, inputs, outputs;
  };
  int VertexFor(const Node& node, llvm::StringRef attr, int index, DataType fixed);
  Error AddNode(const Node& node);

  std::vector<TypeVertex> vertices_;
  std::vector<NodeVertices> nodes_;
};

}  // namespace grapnel::auto_mixed_precision

#endif  // GRAPNEL_PASSES_AUTO_MIXED_PRECISION_TYPE_GRAPH_H_
