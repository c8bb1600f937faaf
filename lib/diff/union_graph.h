// Merges two graphs into one for drawing: B, with the nodes that only A has added where they were
// in A.
#ifndef GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
#define GRAPNEL_LIB_DIFF_UNION_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

enum class NodeStatus { kSame, kRemoved, kAdded, kChanged, kGrouped };

struct UnionGraph {
  // Nodes and functions of B have the same ids and indices as in B.
  std::unique_ptr<Module> module;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, NodeStatus> status;  // without kSame
  // The node of the union that represents a node of A: its partner; the fused node that it became;
  // the first of the nodes into which it was split; or its copy if only A has it. Keys are bodies
  // of A and node ids.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, Node> of_a;
  // The names in A of nodes that only A has and that have another name in the union.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::string> names_in_a;
  std::vector<std::string> scopes;  // scopes with a difference; "function/a/b" in functions

  // Returns the status to show at a node. A constant is drawn inside its reader's box, so an
  // unchanged node that reads a constant with a status counts as changed.
  NodeStatus StatusOf(const Node& node) const;
};

// Nodes have B's names; nodes that only A has keep their names, unless B uses them. Adds functions
// that only A has. Copies B.
UnionGraph MakeUnion(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
