#include "lib/render/scope_tree_builder.h"

#include <algorithm>

#include "lib/render/edges.h"
#include "lib/render/replicas.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the position of the slash after the component of `name` that begins at `from`; npos for
// the last component. A slash at the end of the name, or the second of two slashes, is part of a
// component.
size_t EndOfPart(llvm::StringRef name, size_t from) {
  size_t slash = name.find('/', from + 1);
  return slash + 1 == name.size() ? llvm::StringRef::npos : slash;
}

}  // namespace

void ScopeTree::Builder::FindScopes(bool keep_outermost) {
  std::vector<ScopeId>& scope_of = tree_.scope_of_;
  scope_of.assign(graph_.end_id(), kNoScope);
  std::vector<size_t> last_part(graph_.end_id());
  for (Node node : graph_.nodes()) {
    if (uses_[node.id()] == NodeUse::kOutside) continue;
    scope_of[node.id()] = Walk(node.name());
    last_part[node.id()] = trail_.empty() ? 0 : trail_.back().slash + 1;
  }
  // Once all scopes are known, moves ops that have the name of a scope into that scope.
  for (Node node : graph_.nodes()) {
    ScopeId& scope = scope_of[node.id()];
    if (scope == kNoScope) continue;
    auto same = by_part_.find({scope, node.name().substr(last_part[node.id()])});
    if (same != by_part_.end()) scope = same->second;
  }
  for (Found& scope : llvm::drop_begin(found_)) {
    bool outermost = keep_outermost && scope.parent == kRootScope;
    scope.kept = outermost || IsReplica(scope.path);
  }
}

// Returns the scope of a name, and adds missing scopes. Consecutive names in the file usually share
// scopes, so the walk begins after the common prefix with the previous name.
ScopeId ScopeTree::Builder::Walk(llvm::StringRef name) {
  size_t common = 0, limit = std::min(name.size(), last_name_.size());
  while (common < limit && name[common] == last_name_[common]) ++common;
  while (!trail_.empty() &&
         (trail_.back().slash >= common || trail_.back().slash + 1 == name.size())) {
    trail_.pop_back();
  }
  last_name_ = name;
  ScopeId scope = trail_.empty() ? kRootScope : trail_.back().scope;
  size_t from = trail_.empty() ? 0 : trail_.back().slash + 1;
  for (size_t slash; (slash = EndOfPart(name, from)) != llvm::StringRef::npos; from = slash + 1) {
    ScopeId next = static_cast<ScopeId>(found_.size());
    auto [it, fresh] = by_part_.try_emplace({scope, name.slice(from, slash)}, next);
    if (fresh) {
      found_.emplace_back();
      found_.back().parent = scope;
      found_.back().path = name.substr(0, slash);
      found_.back().name_from = slash + 1;
    }
    scope = it->second;
    trail_.push_back({scope, slash});
  }
  return scope;
}

void ScopeTree::Builder::ListMembers() {
  for (ScopeId id = 1; id < found_.size(); ++id) found_[found_[id].parent].children.push_back(id);
  for (Node node : graph_.nodes()) {
    if (tree_.scope_of_[node.id()] == kNoScope) continue;
    Found& scope = found_[tree_.scope_of_[node.id()]];
    if (uses_[node.id()] == NodeUse::kShown) {
      scope.ops.push_back(node.id());
    } else {
      ++scope.num_folded;
    }
  }
}

std::vector<ScopeTree::Builder::Member> ScopeTree::Builder::MembersOf(ScopeId scope) const {
  ScopeId real = scope;
  while (found_[real].group) real = found_[real].parent;
  std::string wrapper =
      real == kRootScope && !tree_.wrapper_.empty() ? (tree_.wrapper_ + "/").str() : "";
  std::vector<Member> members;
  auto add = [&](bool is_scope, uint32_t id, llvm::StringRef name) {
    name.consume_front(wrapper);
    members.push_back({is_scope, id, name});
  };
  for (ScopeId id : found_[scope].children)
    add(true, id, found_[id].name.empty() ? found_[id].path : found_[id].name);
  for (NodeId id : found_[scope].ops) add(false, id, graph_.node(id).name());
  return members;
}

std::vector<ScopeTree::Builder::Member> ScopeTree::Builder::FreeMembersOf(ScopeId scope) const {
  std::vector<Member> members = MembersOf(scope);
  llvm::erase_if(members,
                 [&](const Member& member) { return member.is_scope && found_[member.id].kept; });
  return members;
}

void ScopeTree::Builder::ForEachNode(const Member& member,
                                     llvm::function_ref<void(NodeId)> visit) const {
  if (!member.is_scope) return visit(member.id);
  llvm::SmallVector<ScopeId, 8> below = {member.id};
  while (!below.empty()) {
    const Found& scope = found_[below.pop_back_val()];
    below.append(scope.children.begin(), scope.children.end());
    for (NodeId op : scope.ops) visit(op);
  }
}

FlowEdges ScopeTree::Builder::EdgesAmong(llvm::ArrayRef<Member> members) {
  constexpr uint32_t kNoMember = ~uint32_t{0};
  member_of_.resize(graph_.end_id(), kNoMember);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < members.size(); ++i) {
    ForEachNode(members[i], [&](NodeId node) {
      member_of_[node] = i;
      nodes.push_back(node);
    });
  }
  FlowEdges edges;
  for (NodeId node : nodes) {
    for (Port port : graph_.node(node).inputs()) {
      if (port.node == kNoNode || port.IsControl()) continue;
      uint32_t from = member_of_[port.node], to = member_of_[node];
      if (from == kNoMember || from == to || IsNextIteration(graph_.node(port.node))) continue;
      edges.push_back({from, to});
    }
  }
  for (NodeId node : nodes) member_of_[node] = kNoMember;
  return edges;
}

void ScopeTree::Builder::Move(const Member& member, ScopeId into) {
  if (member.is_scope) {
    found_[member.id].parent = into;
    found_[into].children.push_back(member.id);
  } else {
    tree_.scope_of_[member.id] = into;
    found_[into].ops.push_back(member.id);
  }
}

void ScopeTree::Builder::Clear(ScopeId scope) {
  found_[scope].children.clear();
  found_[scope].ops.clear();
}

// Assigns ids breadth first, so that parents precede children, and siblings have consecutive ids.
void ScopeTree::Builder::Number() {
  std::vector<ScopeId> order = {kRootScope}, number(found_.size());
  order.reserve(found_.size());
  for (ScopeId id = 0; id < order.size(); ++id) {
    const Found& found = found_[order[id]];
    Scope& scope = tree_.scopes_.emplace_back();
    number[order[id]] = id;
    scope.parent = id == kRootScope ? kNoScope : number[found.parent];
    scope.path = found.path;
    scope.title = found.title;
    if (found.layer >= 0) {
      scope.layer = (*layers_)[found.layer].path;
      scope.layer_class = (*layers_)[found.layer].class_name;
      scope.is_model = (*layers_)[found.layer].is_model;
    } else {
      scope.layer = found.sublayer;
    }
    scope.made_for_layer = found.made_for_layer;
    scope.group = found.group;
    scope.series = found.series;
    scope.part = found.part;
    scope.slice = found.slice;
    scope.inputs = found.inputs;
    scope.cut = found.cut;
    scope.kept = found.kept;
    scope.num_taken = found.num_taken;
    scope.first_child = static_cast<ScopeId>(order.size());
    scope.num_children = static_cast<uint32_t>(found.children.size());
    scope.first_op = static_cast<uint32_t>(tree_.ops_.size());
    scope.num_direct_ops = static_cast<uint32_t>(found.ops.size());
    scope.num_ops = scope.num_direct_ops + found.num_folded;
    order.insert(order.end(), found.children.begin(), found.children.end());
    tree_.ops_.insert(tree_.ops_.end(), found.ops.begin(), found.ops.end());
  }
  for (ScopeId& scope : tree_.scope_of_) {
    if (scope != kNoScope) scope = number[scope];
  }
  for (ScopeId id = 0; id < dropped_into_.size(); ++id) {
    ScopeId into = id;
    while (dropped_into_[into] != kNoScope) into = dropped_into_[into];
    if (into != id) tree_.dropped_.push_back({found_[id].path, number[into]});
  }
}

void ScopeTree::Builder::Count() {
  for (ScopeId id = static_cast<ScopeId>(tree_.size()); id-- > 0;) {
    Scope& scope = tree_.scopes_[id];
    scope.num_shown += scope.num_direct_ops;
    scope.num_entities += scope.num_direct_ops;
    if (scope.num_entities != 1 || scope.num_direct_ops == 1) scope.core = id;
    Scope& core = tree_.scopes_[scope.core];
    if (scope.kept) core.kept = true;
    if (core.layer.empty() && !core.group) {  // it is drawn under the name of the scopes above it
      core.layer = scope.layer;
      core.layer_class = scope.layer_class;
      core.is_model = scope.is_model;
    }
    if (id == kRootScope) break;
    Scope& parent = tree_.scopes_[scope.parent];
    parent.num_ops += scope.num_ops;
    parent.num_shown += scope.num_shown;
    if (scope.num_shown > 0) {
      ++parent.num_entities;
      parent.core = scope.core;  // used only if the parent has no other entity
    }
  }
}

}  // namespace grapnel
