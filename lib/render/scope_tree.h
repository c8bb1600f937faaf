// Name scopes as a tree: a/b/c is in a/b, which is in a. If the data flow leaves a scope and
// reenters it, the scope is dissolved: its members become members of its parent. But if the flow
// outside passes only a few ops that are in no other scope, these ops become members of the scope
// instead; and replicas are kept. Too many siblings are grouped. (lib/render/flow_parts.h explains
// group, part and series.)
//
// If the graph's layers are known, a scope is a layer if all of its nodes belong to that layer: its
// title is the layer's name. Nodes of a layer beside its scope, such as a Cast of its input, are
// moved into it, and a layer in no scope of its own becomes one. A scope around all layers, which a
// call of the model leaves ("model_1"), is dissolved.
//
// Otherwise only a scope with exactly the nodes of a name scope has this scope's path as its title.
// Titles of others say what is in them: "conv1 ... pool1", "block_3_*", "grads + 2 ops".
#ifndef GRAPNEL_LIB_RENDER_SCOPE_TREE_H_
#define GRAPNEL_LIB_RENDER_SCOPE_TREE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/render/box_layers.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

using ScopeId = uint32_t;
constexpr ScopeId kRootScope = 0;
constexpr ScopeId kNoScope = ~ScopeId{0};

// More siblings than this are unreadable without groups.
constexpr uint32_t kGroupAbove = 24;

// How a picture treats a node.
enum class NodeUse : uint8_t {
  kOutside,  // not selected, or hidden: not in the tree
  kFolded,   // has no box of its own: see Fold (lib/render/selection.h)
  kShown,
};

struct Scope {
  ScopeId parent = kNoScope;
  // The scope's path, "a/b"; for a group by names the common beginning of the names, "a/block_".
  llvm::StringRef path;
  // The displayed title, if it differs from the path: "a/conv1 ... mixed3" for a part from a/conv1
  // to a/mixed3, "a/block_3_*" for a part of members whose names begin alike.
  llvm::StringRef title;
  // The layer that the scope is: its path "encoder/conv", and its class if the file states it. A
  // layer may be part of one that has a row in the model's summary: "attention/query". Both are
  // empty for other scopes.
  llvm::StringRef layer, layer_class;
  bool is_model = false;  // the layer is a nested model
  // True for a scope whose nodes are the layer's, and in no name scope of their own.
  bool made_for_layer = false;
  // In a scope with too many members, groups stand for several members each. Members whose names
  // begin alike form a group (block_1_conv, block_1_relu, block_2_conv ... are in block_*, and
  // within it in block_1_*), if no flow leaves the group and reenters it.
  bool group = false;
  // A series is a group of siblings of one structure, block_1 ... block_16 (see FindSeries), or of
  // equal consecutive parts. A part is a group of neighbors in the flow, in a scope whose names
  // give no groups. A slice is a section of a series that is too long. All of them are groups, and
  // their paths end in the names of their first and last member.
  bool series = false, part = false, slice = false;
  bool inputs = false;  // a part of the graph's inputs, if these are many
  bool cut = false;     // the scope's members were divided into parts and series
  // The scope (or, of a chain of only children, one above it) is a box although the flow leaves and
  // reenters it: a replica (lib/render/replicas.h), or a series of replicas.
  bool kept = false;
  // The ops, at any depth, that are neither in the name scope nor of the layer: the flow passes
  // them between its ops.
  uint32_t num_taken = 0;
  ScopeId first_child = 0;  // children have consecutive ids, greater than their parent's id
  uint32_t num_children = 0;
  uint32_t first_op = 0,
           num_direct_ops = 0;  // shown nodes directly in this scope: see ScopeTree::Ops
  uint32_t num_ops = 0;         // nodes at any depth, folded ones included
  uint32_t num_shown = 0;       // of num_ops, the shown nodes
  // The number of entities that the open scope shows: its children with shown nodes, and its direct
  // ops.
  uint32_t num_entities = 0;
  // The first scope from here down that shows not just one scope: a/b/c if a contains only b, and b
  // only c. The scopes above it are drawn as part of its title.
  ScopeId core = 0;
};

// The scope tree of one graph, which must outlive it, as must the layers. An op with the name of a
// scope ("dense" beside "dense/kernel") is in that scope. Takes near-linear time in the edges and
// the length of the names. Is not recursive, so any depth of scopes works.
class ScopeTree {
 public:
  // `uses` has an entry for each node id. Scopes with more than `group_above` members get groups.
  // `keep_outermost`: keeps the top-level scopes, as if they were replicas. `layers`: null if they
  // are not known.
  ScopeTree(const Graph& graph, llvm::ArrayRef<NodeUse> uses, uint32_t group_above = kGroupAbove,
            bool keep_outermost = false, const BoxLayers* layers = nullptr);

  size_t size() const { return scopes_.size(); }
  const Scope& scope(ScopeId id) const { return scopes_[id]; }
  // The innermost scope of a node; kNoScope if the node is not in the tree.
  ScopeId ScopeOf(NodeId id) const { return scope_of_[id]; }
  // Shown nodes directly in this scope, in the graph's order.
  llvm::ArrayRef<NodeId> Ops(ScopeId id) const {
    return llvm::ArrayRef<NodeId>(ops_).slice(scopes_[id].first_op, scopes_[id].num_direct_ops);
  }
  // Returns the scope for a path ("a/b", "a/block_*", "" for the root), a layer's path, or a text
  // of TitleText or TypedText; for a dissolved scope, the scope that its members are in; kNoScope
  // if there is no such scope. Takes time linear in the scopes.
  ScopeId Find(llvm::StringRef path) const;
  // True if the path is that of a scope that is dissolved because data flows out of it and back
  // into it. Takes time linear in the scopes.
  bool IsDissolved(llvm::StringRef path) const;
  // The text with which users name this scope: the path of the layer that it is, else its title if
  // it has one, else its path. Find accepts it, and returns the first of several scopes with the
  // same layer or title.
  std::string TypedText(ScopeId id) const;
  // The full path, as Find accepts it.
  std::string PathText(ScopeId id) const;
  // The displayed title; for groups that are not parts, followed by the number of members:
  // "a/block_* x16"; for a scope with ops of others, by their number: "a/grads + 2 ops".
  std::string TitleText(ScopeId id) const;
  // True if the scope does not have exactly the nodes of a name scope or of a layer.
  bool IsMadeUp(ScopeId id) const { return scopes_[id].group || scopes_[id].num_taken > 0; }
  // The number of a group's members, counting those in its slices one by one.
  size_t NumMembers(ScopeId id) const;
  // The nearest scope from here up that is not a group.
  ScopeId RealScope(ScopeId id) const;
  // The path that names of members begin with, and which their texts in the open scope leave out:
  // of a name scope its own, else that of the scope around it.
  llvm::StringRef BaseOf(ScopeId id) const;
  // The path of the innermost layer that the scope is or is in; empty if there is none. A function
  // that only one layer calls is in that layer.
  llvm::StringRef LayerAround(ScopeId id) const;
  // True if the scope is a group whose path is the common beginning of its members' names.
  bool IsPrefix(ScopeId id) const {
    const Scope& scope = scopes_[id];
    return scope.group && !scope.series && !scope.part && !scope.slice;
  }
  // True if the scope is a group whose first child is a group.
  bool HoldsGroups(ScopeId id) const {
    const Scope& scope = scopes_[id];
    return scope.group && scope.num_children > 0 && scopes_[scope.first_child].group;
  }

 private:
  class Builder;
  // The scope around the dissolved scope of that path; kNoScope if none has this path.
  ScopeId AroundDissolved(llvm::StringRef path) const;
  std::vector<Scope> scopes_;
  std::vector<ScopeId> scope_of_;
  std::vector<NodeId> ops_;
  std::deque<std::string> texts_;  // paths and titles of groups
  llvm::StringRef layer_around_;   // the path of the layer that the whole graph is in
  llvm::StringRef wrapper_;        // the path of the dissolved scope around all layers
  std::vector<std::pair<llvm::StringRef, ScopeId>> dropped_;  // paths of dissolved scopes
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_TREE_H_
