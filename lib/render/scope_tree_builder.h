// Builds a ScopeTree: finds scopes, then groups them. Private to lib/render.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_TREE_BUILDER_H_
#define GRAPNEL_LIB_RENDER_SCOPE_TREE_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/render/flow_order.h"
#include "lib/render/flow_parts.h"
#include "lib/render/scope_tree.h"
#include "lib/render/series.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {

// Builds the tree from scopes in the order in which they are found; Number() assigns final ids.
class ScopeTree::Builder {
 public:
  Builder(const Graph& graph, llvm::ArrayRef<NodeUse> uses, const BoxLayers* layers,
          ScopeTree* tree)
      : graph_(graph), uses_(uses), layers_(layers), tree_(*tree) {}

  void Build(uint32_t group_above, bool keep_outermost);

 private:
  struct Found {
    ScopeId parent = kNoScope;
    llvm::StringRef path, title;
    bool group = false, series = false, part = false, slice = false, inputs = false, cut = false,
         kept = false;
    int layer = -1;  // the layer that the scope is
    // The path of the layer in a layer, without a row of its own, that the scope is: "attention/query".
    llvm::StringRef sublayer;
    bool made_for_layer = false;
    // The name as a member of the scope around it, if that is not the path: for a layer, its path
    // with the layer's name as the last part.
    llvm::StringRef name;
    size_t name_from = 0;     // length of the prefix that all members' names have
    uint32_t num_folded = 0;  // folded nodes directly in this scope
    uint32_t num_taken = 0;   // ops that TakeInOps moved here
    std::vector<ScopeId> children;
    std::vector<NodeId> ops;
  };
  struct Member {
    bool is_scope;
    uint32_t id;
    llvm::StringRef name;
  };
  struct Step {
    ScopeId scope;
    size_t slash;  // position of the slash after the scope's path
  };

  // In scope_tree_builder.cpp: finds scopes by names, and makes the final tree.
  void FindScopes(bool keep_outermost);
  ScopeId Walk(llvm::StringRef name);
  void ListMembers();
  void Number();
  void Count();
  size_t NumMembersOf(ScopeId scope) const {
    return found_[scope].children.size() + found_[scope].ops.size();
  }
  std::vector<Member> MembersOf(ScopeId scope) const;
  // The members that are not kept scopes.
  std::vector<Member> FreeMembersOf(ScopeId scope) const;
  void ForEachNode(const Member& member, llvm::function_ref<void(NodeId)> visit) const;
  // Returns the data edges between members of a scope, as indices in `members`. Leaves out edges
  // from NextIteration, which run back.
  FlowEdges EdgesAmong(llvm::ArrayRef<Member> members);
  void Move(const Member& member, ScopeId into);
  void Clear(ScopeId scope);

  // In layer_scopes.cpp: finds out which scopes are layers.
  void FindLayers();
  std::vector<int> CommonLayers();
  void NameLayerScopes(llvm::ArrayRef<int> common);
  bool IsCalledAs(ScopeId scope, int layer) const;
  void SetLayer(ScopeId scope, int layer);
  void SetSublayer(ScopeId scope, int around);
  ScopeId BoxOf(int layer, ScopeId scope) const;
  void TakeInNodes();
  ScopeId HomeOf(NodeId node) const;
  void MakeLayerScopes();
  void MakeLayerScope(int layer, llvm::ArrayRef<NodeId> nodes);
  ScopeId Around(ScopeId a, ScopeId b) const;
  void DropWrappers();

  // In scope_cycles.cpp: dissolves scopes that the flow leaves and reenters.
  void DropCyclicScopes();
  std::vector<bool> ScopesWithCycles();
  std::vector<ScopeId> TakeInOps(ScopeId scope);
  void DropCyclicMembers(ScopeId scope);
  void Drop(ScopeId scope);

  // In scope_groups.cpp: makes groups in scopes with too many members.
  void GroupInputs();
  void FindAllSeries();
  ScopeStructures Structures(bool names) const;
  uint64_t StructureOf(const Member& member) const;
  void GroupMembers(ScopeId scope, uint32_t group_above);
  std::vector<Member> TakeOutKept(ScopeId scope);
  void PutBackKept(ScopeId scope, llvm::ArrayRef<Member> kept);
  bool MayHaveSeries(ScopeId scope) const;
  void MakeSeries(ScopeId scope, const ScopeStructures& structures, const std::vector<bool>& shows);
  static std::vector<std::vector<Member>> ByWord(llvm::ArrayRef<Member> members, size_t from);
  std::vector<std::vector<Member>> BeforeAndAfter(llvm::ArrayRef<Member> members,
                                                  llvm::ArrayRef<Member> kept);
  bool GroupByNames(ScopeId scope);
  void Group(ScopeId scope, const std::vector<std::vector<Member>>& words, size_t from);
  bool IsEnd(ScopeId scope, const Member& member) const;
  void CutAlongFlow(ScopeId scope, llvm::ArrayRef<Member> kept);
  void AddPart(ScopeId scope, llvm::ArrayRef<Member> members, const FlowPart& part,
               const NameWords& words);
  ScopeId AddRepeat(ScopeId scope, llvm::ArrayRef<Member> members, llvm::ArrayRef<uint32_t> part,
                    const NameWords& words);
  std::string WordsOf(ScopeId scope, llvm::ArrayRef<Member> members, llvm::ArrayRef<uint32_t> part,
                      const NameWords& words) const;
  void SplitEvenly(ScopeId scope);
  uint32_t SizeOf(const Member& member) const;
  llvm::StringRef OwnName(ScopeId scope, llvm::StringRef name) const;
  llvm::StringRef Keep(std::string text);
  ScopeId AddGroup(ScopeId scope, llvm::StringRef first, llvm::StringRef last);

  const Graph& graph_;
  llvm::ArrayRef<NodeUse> uses_;
  const BoxLayers* layers_;  // may be null
  ScopeTree& tree_;
  std::vector<Found> found_;
  std::vector<ScopeId> dropped_into_;  // by found scope; kNoScope: not dissolved
  std::vector<int> layer_of_;          // by node; of shown nodes
  std::vector<int> layer_around_;      // by found scope: the layer that it is or is in
  std::vector<uint64_t> structures_;   // by found scope that is not a group; ignores names
  llvm::DenseMap<std::pair<ScopeId, llvm::StringRef>, ScopeId> by_part_;
  std::vector<uint32_t> member_of_;  // by node, for EdgesAmong
  llvm::StringSet<> titles_;         // titles in use for the parts of one scope
  llvm::StringRef last_name_;
  std::vector<Step> trail_;  // the scopes around last_name_, for Walk
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_TREE_BUILDER_H_
