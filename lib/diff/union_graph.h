// Merges both graphs into one for drawing: B, with the nodes that only A has put back in place.
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
  std::unique_ptr<Module> module;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, NodeStatus> status;  // without kSame
  // The node that represents a node of A: the one it is matched with, or became. The pointers only
  // distinguish A's nodes.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, Node> of_a;
  // A's names of nodes that only A has and that are renamed here.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::string> names_in_a;
  std::vector<std::string> scopes;  // that contain a difference, "function/a/b" in functions

  // A constant is drawn within its reader, so the reader shows its status too.
  NodeStatus StatusOf(const Node& node) const;
};

// Nodes have B's names; nodes that only A has keep theirs, unless B uses the name. Functions that
// only A has are left out. Copies B.
UnionGraph MakeUnion(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
