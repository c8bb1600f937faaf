// Both graphs as one, for drawing: B, with what A lost put back where it was.
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
  llvm::DenseMap<std::pair<const Graph*, NodeId>, NodeStatus> status;  // of all but kSame
  // What stands here for a node of A: the one that it is, or became. The pointers only tell A's
  // nodes apart.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, Node> of_a;
  // What only A has, and is called otherwise here: its name in A.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::string> names_in_a;
  std::vector<std::string> scopes;  // with anything that differs, "function/a/b" in functions

  // A constant is drawn within its reader, so what became of it shows there.
  NodeStatus StatusOf(const Node& node) const;
};

// Nodes are called as in B; those that only A has as there, unless that name is taken. Functions
// that only A has are left out. Copies B.
UnionGraph MakeUnion(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_UNION_GRAPH_H_
