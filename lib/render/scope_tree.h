// Name scopes as a tree: a/b/c lies in a/b, which lies in a. What the data flow leaves and enters
// again is no scope, unless it passes but a few ops of no scope on the way, which then lie in it,
// and siblings that are too many are grouped.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_TREE_H_
#define GRAPNEL_LIB_RENDER_SCOPE_TREE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

using ScopeId = uint32_t;
constexpr ScopeId kRootScope = 0;
constexpr ScopeId kNoScope = ~ScopeId{0};

// More siblings than this cannot be read without groups.
constexpr uint32_t kGroupAbove = 24;

// What a picture does with a node.
enum class NodeUse : uint8_t {
  kOutside,  // not selected: not in the tree
  kFolded,   // counted, and said beside its reader: no box of its own
  kShown,
};

struct Scope {
  ScopeId parent = kNoScope;
  // The scope's path, "a/b"; of a group what its members' names begin with, "a/block_".
  llvm::StringRef path;
  // What a reader is told, where that is not the path: "a/mixed3" of a part that ends there.
  llvm::StringRef title;
  // A group stands for siblings, in a scope with so many that nobody could read them: for those
  // whose names begin alike (block_1_conv, block_1_relu, block_2_conv ... are found under block_*,
  // and there under block_1_*), where no flow leaves such a group and enters it again.
  bool group = false;
  // A series is a group of siblings of one structure, block_1 ... block_16, see FindSeries, or of
  // equal parts that follow one another in the flow. A part is what FlowParts makes of a scope
  // whose names do not say how to group it. A slice is some of a series that is too long. All count
  // as groups, and their paths end in the names of their first and last member.
  bool series = false, part = false, slice = false;
  bool cut = false;         // its members are in parts, or stand for one
  ScopeId first_child = 0;  // children have consecutive ids, all above their parent's
  uint32_t num_children = 0;
  uint32_t first_op = 0,
           num_direct_ops = 0;  // shown nodes that lie in no deeper scope: see ScopeTree::Ops
  uint32_t num_ops = 0;         // nodes at any depth, folded ones included
  uint32_t num_shown = 0;       // the shown ones among them
  // What is seen when the scope is opened: children that show anything, and direct ops.
  uint32_t num_entities = 0;
  // The first scope from here down that has more than one entity: a/b/c where a holds nothing but
  // b, and b but c.
  ScopeId core = 0;
};

// The tree of one graph; names are borrowed from it. An op that is named as a scope ("dense" beside
// "dense/kernel") lies in that scope. Linear in the length of names; no recursion, so any depth is
// fine.
class ScopeTree {
 public:
  // `uses` has an entry for each id of the graph. Scopes with more than `group_above` members get
  // groups. `keep_outermost`: scopes of the root are scopes even if the flow leaves them and enters
  // them again.
  ScopeTree(const Graph& graph, llvm::ArrayRef<NodeUse> uses, uint32_t group_above = kGroupAbove,
            bool keep_outermost = false);

  size_t size() const { return scopes_.size(); }
  const Scope& scope(ScopeId id) const { return scopes_[id]; }
  // The innermost scope of a node; kNoScope for one that is outside.
  ScopeId ScopeOf(NodeId id) const { return scope_of_[id]; }
  // Shown nodes that lie in this scope and in no deeper one, in the graph's order.
  llvm::ArrayRef<NodeId> Ops(ScopeId id) const {
    return llvm::ArrayRef<NodeId>(ops_).slice(scopes_[id].first_op, scopes_[id].num_direct_ops);
  }
  // "a/b", "a/block_*", or as TitleText has it; the root is "". Of a scope that is none, because
  // the flow leaves it and enters it again, the one that its members are in. kNoScope when there
  // is none. Linear in scopes.
  ScopeId Find(llvm::StringRef path) const;
  // The shortest that Find reads as this scope, or as one in it of the same name.
  std::string TypedText(ScopeId id) const;
  // As Find reads it.
  std::string PathText(ScopeId id) const;
  // As a reader is told; of groups but parts with the number of members: "a/block_* x16".
  std::string TitleText(ScopeId id) const;
  // Of a group, those in its slices counted one by one.
  size_t NumMembers(ScopeId id) const;
  // The nearest scope from here up that is no group.
  ScopeId RealScope(ScopeId id) const;
  // Whether its members' names all begin with its path.
  bool IsPrefix(ScopeId id) const {
    const Scope& scope = scopes_[id];
    return scope.group && !scope.series && !scope.part && !scope.slice;
  }
  // Whether it is a group whose members are groups again.
  bool HoldsGroups(ScopeId id) const {
    const Scope& scope = scopes_[id];
    return scope.group && scope.num_children > 0 && scopes_[scope.first_child].group;
  }

 private:
  class Builder;
  std::vector<Scope> scopes_;
  std::vector<ScopeId> scope_of_;
  std::vector<NodeId> ops_;
  std::deque<std::string> texts_;                             // paths and titles of groups
  std::vector<std::pair<llvm::StringRef, ScopeId>> dropped_;  // paths of scopes that are none
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_TREE_H_
