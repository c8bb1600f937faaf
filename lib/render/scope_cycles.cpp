// Dissolves name scopes that the data flow leaves and reenters: their members become members of the
// parent. If the flow outside passes only a few ops that are in no sibling scope (such as sums of
// gradients between the ops of a gradient_tape), moves these ops into the scope instead. Never
// dissolves a kept scope, such as a replica, nor another scope because of a cycle through a kept
// one: the sums of gradients are on a cycle with each replica.
#include <algorithm>

#include "lib/render/edges.h"
#include "lib/render/scope_tree_builder.h"

namespace grapnel {

void ScopeTree::Builder::DropCyclicScopes() {
  std::vector<bool> cyclic = ScopesWithCycles();
  for (ScopeId id = 0; id < cyclic.size(); ++id) {
    if (!cyclic[id] || dropped_into_[id] != kNoScope) continue;
    for (ScopeId into : TakeInOps(id))
      cyclic[into] = true;  // this loop visits `into` later: children have higher ids
    DropCyclicMembers(id);
  }
  for (ScopeId& scope : tree_.scope_of_) {
    while (scope != kNoScope && dropped_into_[scope] != kNoScope) {
      // Drop() moved the shown nodes; only folded nodes still have a dissolved scope.
      scope = dropped_into_[scope];
    }
  }
}

// Returns, by scope, whether one of its members that is a scope is on a cycle of members. An edge
// connects members of the innermost scope that contains both of its ends.
std::vector<bool> ScopeTree::Builder::ScopesWithCycles() {
  std::vector<uint32_t> depth(found_.size(), 0);
  for (ScopeId id = 1; id < found_.size(); ++id) depth[id] = depth[found_[id].parent] + 1;
  // The vertices are the scopes, 0 .. found_.size() - 1, followed by the nodes.
  uint32_t num_scopes = static_cast<uint32_t>(found_.size());
  auto is_kept = [&](uint32_t vertex) { return vertex < num_scopes && found_[vertex].kept; };
  FlowEdges edges;
  for (Node node : graph_.nodes()) {
    if (uses_[node.id()] != NodeUse::kShown) continue;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode || port.IsControl() || uses_[port.node] != NodeUse::kShown) continue;
      if (IsNextIteration(graph_.node(port.node))) continue;
      ScopeId a = tree_.scope_of_[port.node], b = tree_.scope_of_[node.id()];
      uint32_t from = num_scopes + port.node, to = num_scopes + node.id();
      while (a != b) {
        bool up_a = depth[a] >= depth[b], up_b = depth[b] >= depth[a];
        if (up_a) a = found_[from = a].parent;
        if (up_b) b = found_[to = b].parent;
      }
      if (from != to && !is_kept(from) && !is_kept(to)) edges.push_back({from, to});
    }
  }
  uint32_t count = num_scopes + graph_.end_id();
  std::vector<uint32_t> cycles = CyclesOf(count, std::move(edges)), on(count, 0);
  std::vector<bool> cyclic(found_.size(), false);
  for (uint32_t i = 0; i < count; ++i) ++on[cycles[i]];
  for (ScopeId id = 1; id < num_scopes; ++id) {
    if (on[cycles[id]] > 1) cyclic[found_[id].parent] = true;
  }
  return cyclic;
}

// Moves ops that are on a cycle with exactly one scope into that scope, if the ops are few compared
// with the scope's size. Returns the scopes that received ops.
std::vector<ScopeId> ScopeTree::Builder::TakeInOps(ScopeId scope) {
  constexpr uint32_t kTimesLarger = 4;
  std::vector<Member> members = FreeMembersOf(scope);
  uint32_t count = static_cast<uint32_t>(members.size());
  std::vector<uint32_t> cycles = CyclesOf(count, EdgesAmong(members));
  std::vector<uint32_t> scopes(count, 0), ops(count, 0), the_scope(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (members[i].is_scope) {
      ++scopes[cycles[i]];
      the_scope[cycles[i]] = i;
    } else {
      ++ops[cycles[i]];
    }
  }
  std::vector<ScopeId> took;
  for (uint32_t cycle = 0; cycle < count; ++cycle) {
    if (scopes[cycle] != 1 || ops[cycle] == 0) continue;
    const Member& into = members[the_scope[cycle]];
    if (ops[cycle] * kTimesLarger <= SizeOf(into)) took.push_back(into.id);
  }
  if (took.empty()) return took;
  std::sort(took.begin(), took.end());
  found_[scope].ops.clear();
  for (uint32_t i = 0; i < count; ++i) {
    if (members[i].is_scope) continue;
    ScopeId into = scopes[cycles[i]] == 1 ? members[the_scope[cycles[i]]].id : scope;
    if (!std::binary_search(took.begin(), took.end(), into)) into = scope;
    Move(members[i], into);
    if (into != scope) ++found_[into].num_taken;
  }
  for (ScopeId into : took) std::sort(found_[into].ops.begin(), found_[into].ops.end());
  return took;
}

// Dissolves members that are on cycles. Each round dissolves all but the largest quarter of the
// scopes on each cycle, since these may no longer be on a cycle after that.
void ScopeTree::Builder::DropCyclicMembers(ScopeId scope) {
  while (true) {
    std::vector<Member> members = FreeMembersOf(scope);
    uint32_t count = static_cast<uint32_t>(members.size());
    std::vector<uint32_t> cycles = CyclesOf(count, EdgesAmong(members)), on(count, 0);
    for (uint32_t cycle : cycles) ++on[cycle];
    std::vector<std::vector<std::pair<uint32_t, ScopeId>>> by_cycle(count);
    for (uint32_t i = 0; i < count; ++i) {
      if (members[i].is_scope && on[cycles[i]] > 1)
        by_cycle[cycles[i]].push_back({SizeOf(members[i]), members[i].id});
    }
    bool dropped = false;
    for (auto& scopes : by_cycle) {
      std::sort(scopes.begin(), scopes.end());
      scopes.resize(scopes.size() - scopes.size() / 4);
      for (auto [size, id] : scopes) Drop(id);
      dropped |= !scopes.empty();
    }
    if (!dropped) return;
  }
}

void ScopeTree::Builder::Drop(ScopeId scope) {
  ScopeId parent = found_[scope].parent;
  std::vector<Member> members = MembersOf(scope);
  Clear(scope);
  for (const Member& member : members) Move(member, parent);
  found_[parent].num_folded += found_[scope].num_folded;
  found_[scope].num_folded = 0;
  std::erase(found_[parent].children, scope);
  dropped_into_[scope] = parent;
}

}  // namespace grapnel
