// Merges two graphs into one for drawing: B, with the nodes that only A has added where they were
// in A.
#ifndef GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
#define GRAPNEL_LIB_DIFF_UNION_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

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
  // Variables and constants whose values differ, as far as a comparison of values was made.
  llvm::DenseSet<std::pair<const Graph*, NodeId>> other_values;

  NodeStatus StatusOf(const Node& node) const;
};

// Nodes have B's names; nodes that only A has keep their names, unless B uses them. Adds functions
// that only A has. Copies B. `other_values`: nodes of B (UnionGraph::other_values).
UnionGraph MakeUnion(const Module& b, const Diff& diff, llvm::ArrayRef<Node> other_values = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
