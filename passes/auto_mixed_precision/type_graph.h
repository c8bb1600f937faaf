// A graph whose vertices are dtypes of nodes: each dtype that a node has through an attribute, or
// through its op's definition, with the ports of that dtype. Painting works on these vertices,
// because a node may take one dtype in half and another in float.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_TYPE_GRAPH_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_TYPE_GRAPH_H_

#include <vector>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel::auto_mixed_precision {

struct TypeVertex {
  Node node;
  std::string attr;  // empty: the op fixes the dtype
  int index = -1;    // in the attribute's list; -1: not a list
  DataType type = proto::DT_INVALID;
  llvm::SmallVector<int, 2> inputs, outputs;  // ports of this dtype
  llvm::SmallVector<int, 4> from, to;         // vertices with an edge to or from this one
};

class TypeGraph {
 public:
  // Errors: a node of an unknown op, or whose inputs and outputs do not follow from its attributes.
  // The error names the node.
  static Expected<TypeGraph> Make(const Graph& graph);

  int size() const { return static_cast<int>(vertices_.size()); }
  const TypeVertex& operator[](int i) const { return vertices_[i]; }
  // The vertices of a node.
  llvm::ArrayRef<int> Of(const Node& node) const { return nodes_[node.id()].vertices; }
  int OfInput(const Node& node, int port) const { return nodes_[node.id()].inputs[port]; }
  int OfOutput(Port port) const { return nodes_[port.node].outputs[port.index]; }
  // The vertex of an attribute that is not a list; -1 if there is none.
  int OfAttr(const Node& node, llvm::StringRef attr) const;
  // True if the node existed when the type graph was made.
  bool Has(const Node& node) const { return node.id() < nodes_.size(); }

  void AddEdge(int from, int to);

  // Walk() visits `root`, and from there the vertices for which `enter` is true; it does not pass
  // others. kFromInputs leads from a vertex to those that its inputs come from, kToOutputs to those
  // that read it.
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
