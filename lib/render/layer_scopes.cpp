// Finds out which scopes are layers. A layer whose nodes are in no scope of their own, because an
// operator has none or because the program's names do not follow its modules, gets one.
#include <algorithm>
#include <map>

#include "lib/render/scope_tree_builder.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kNoNodes = -2;     // in CommonLayers: the scope has no shown nodes
constexpr int kMostRounds = 16;  // of TakeInNodes: nodes that would need more stay where they are

llvm::StringRef LastPart(llvm::StringRef path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void ScopeTree::Builder::FindLayers() {
  layer_of_.assign(graph_.end_id(), -1);
  for (Node node : graph_.nodes()) {
    if (uses_[node.id()] == NodeUse::kShown) layer_of_[node.id()] = layers_->Of(node);
  }
  NameLayerScopes(CommonLayers());
  TakeInNodes();
  MakeLayerScopes();
}

// Returns, by scope, the innermost layer that has all of its shown nodes: -1 if there is none.
std::vector<int> ScopeTree::Builder::CommonLayers() {
  std::vector<int> common(found_.size(), kNoNodes);
  auto add = [&](ScopeId scope, int layer) {
    int& mine = common[scope];
    mine = mine == kNoNodes ? layer : layers_->Common(mine, layer);
  };
  for (Node node : graph_.nodes()) {
    if (uses_[node.id()] == NodeUse::kShown) add(tree_.scope_of_[node.id()], layer_of_[node.id()]);
  }
  for (ScopeId id = static_cast<ScopeId>(found_.size()); id-- > 1;) {
    if (common[id] != kNoNodes) add(found_[id].parent, common[id]);
  }
  return common;
}

// Finds the layer that each scope is. If nested scopes have nodes of one layer, which may be the
// only one of a nested model, their names tell which of them is the layer and which is the model;
// if they do not, the outermost one that does not merely contain another scope is the layer.
void ScopeTree::Builder::NameLayerScopes(llvm::ArrayRef<int> common) {
  std::vector<uint32_t> members(found_.size(), 0), scopes(found_.size(), 0);
  for (Node node : graph_.nodes()) {
    if (uses_[node.id()] == NodeUse::kShown) ++members[tree_.scope_of_[node.id()]];
  }
  for (ScopeId id = 1; id < found_.size(); ++id) {
    if (common[id] == kNoNodes) continue;
    ++members[found_[id].parent];
    ++scopes[found_[id].parent];
  }
  layer_around_.assign(found_.size(), -1);
  // A function that a layer calls is in that layer as a whole.
  layer_around_[kRootScope] = std::max(common[kRootScope], -1);
  if (int layer = layer_around_[kRootScope]; layer >= 0)
    tree_.layer_around_ = (*layers_)[layer].path;
  for (ScopeId id = 1; id < found_.size(); ++id) {
    int around = layer_around_[id] = layer_around_[found_[id].parent];
    if (found_[id].kept) {  // a replica keeps its name, also if the whole of it is a layer
      layer_around_[id] = std::max(common[id], around);
      continue;
    }
    std::vector<int> candidates;  // the layers between `around` and the common one, outermost first
    for (int layer = common[id]; layer >= 0 && layer != around; layer = (*layers_)[layer].parent)
      candidates.insert(candidates.begin(), layer);
    if (candidates.empty()) {
      SetSublayer(id, around);
      continue;
    }
    auto named = llvm::find_if(candidates, [&](int layer) { return IsCalledAs(id, layer); });
    bool only_wraps = members[id] == 1 && scopes[id] == 1;
    if (named == candidates.end() && only_wraps) continue;
    SetLayer(id, named == candidates.end() ? candidates.back() : *named);
  }
}

// True if the scope's name is the layer's, perhaps with the number that a call adds: "conv_1".
bool ScopeTree::Builder::IsCalledAs(ScopeId scope, int layer) const {
  llvm::StringRef rest = LastPart(found_[scope].path);
  if (!rest.consume_front((*layers_)[layer].name)) return false;
  return rest.empty() || (rest.consume_front("_") && !rest.empty() &&
                          llvm::all_of(rest, [](char c) { return llvm::isDigit(c); }));
}

void ScopeTree::Builder::SetLayer(ScopeId scope, int layer) {
  Found& found = found_[scope];
  found.layer = layer_around_[scope] = layer;
  llvm::StringRef around = found.path.drop_back(LastPart(found.path).size());
  found.name = Keep((around + (*layers_)[layer].label).str());
}

// Names the scope if it is a layer in the layer `around` that has no row of its own.
void ScopeTree::Builder::SetSublayer(ScopeId scope, int around) {
  Found& found = found_[scope];
  bool may_be = around >= 0 && !(*layers_)[around].is_model;
  llvm::StringRef name = may_be ? layers_->NameOfSublayer(graph_, found.path) : "";
  if (name.empty()) return;
  llvm::StringRef outer = (*layers_)[around].path;
  for (ScopeId id = found.parent; id != kRootScope && found_[id].layer < 0;
       id = found_[id].parent) {
    if (found_[id].sublayer.empty()) continue;
    outer = found_[id].sublayer;
    break;
  }
  std::string printable = Printable(name);
  found.sublayer = Keep((outer + "/" + printable).str());
  llvm::StringRef before = found.path.drop_back(LastPart(found.path).size());
  found.name = Keep((before + printable).str());
}

// Returns the scope of a layer that a scope is or is in; kNoScope if there is none.
ScopeId ScopeTree::Builder::BoxOf(int layer, ScopeId scope) const {
  while (scope != kNoScope && found_[scope].layer != layer) scope = found_[scope].parent;
  return scope;
}

// Moves nodes of a layer that are beside its scope into it, as long as no data flows back: those
// that only the scope reads, and those that read only the scope.
void ScopeTree::Builder::TakeInNodes() {
  std::vector<NodeId> beside;
  for (NodeId id = 0; id < layer_of_.size(); ++id) {
    if (layer_of_[id] >= 0 && layer_around_[tree_.scope_of_[id]] != layer_of_[id])
      beside.push_back(id);
  }
  for (int round = 0; round < kMostRounds && !beside.empty(); ++round) {
    size_t before = beside.size();
    llvm::erase_if(beside, [&](NodeId id) {
      ScopeId home = HomeOf(id);
      if (home != kNoScope) tree_.scope_of_[id] = home;
      return home != kNoScope;
    });
    if (beside.size() == before) return;
  }
}

ScopeId ScopeTree::Builder::HomeOf(NodeId id) const {
  Node node = graph_.node(id);
  ScopeId home = kNoScope;
  bool fits = true;
  auto add = [&](NodeId other) {
    if (uses_[other] != NodeUse::kShown) return;
    ScopeId box = BoxOf(layer_of_[id], tree_.scope_of_[other]);
    fits &= box != kNoScope && (home == kNoScope || home == box);
    home = box;
  };
  for (const Use& use : node.uses()) {
    bool is_data = static_cast<int>(use.slot) < graph_.node(use.node).num_inputs();
    if (is_data) add(use.node);
  }
  if (fits && home != kNoScope) return home;
  home = kNoScope;
  fits = true;
  for (int slot = 0; slot < node.num_inputs(); ++slot) {
    if (NodeId from = node.input(slot).node; from != kNoNode) add(from);
  }
  return fits ? home : kNoScope;
}

// Makes scopes for the layers that have none: one for each connected part of a layer's nodes, since
// the layer may be called several times.
void ScopeTree::Builder::MakeLayerScopes() {
  std::vector<bool> has_scope(layers_->size(), false);
  for (const Found& scope : found_) {
    if (scope.layer >= 0) has_scope[scope.layer] = true;
  }
  std::vector<NodeId> part_of(graph_.end_id(), kNoNode);  // the least node of the part
  auto find = [&](NodeId id) {
    while (part_of[id] != id) id = part_of[id] = part_of[part_of[id]];
    return id;
  };
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < layer_of_.size(); ++id) {
    int layer = layer_of_[id];
    if (layer < 0 || has_scope[layer] || layer_around_[tree_.scope_of_[id]] == layer) continue;
    nodes.push_back(id);
    part_of[id] = id;
  }
  for (NodeId id : nodes) {
    Node node = graph_.node(id);
    for (int slot = 0; slot < node.num_inputs(); ++slot) {
      NodeId from = node.input(slot).node;
      if (from == kNoNode || part_of[from] == kNoNode || layer_of_[from] != layer_of_[id]) continue;
      NodeId a = find(from), b = find(id);
      part_of[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<NodeId, std::vector<NodeId>> parts;
  for (NodeId id : nodes) parts[find(id)].push_back(id);
  for (const auto& [least, part] : parts) MakeLayerScope(layer_of_[least], part);
}

void ScopeTree::Builder::MakeLayerScope(int layer, llvm::ArrayRef<NodeId> nodes) {
  ScopeId parent = tree_.scope_of_[nodes.front()];
  for (NodeId id : nodes) parent = Around(parent, tree_.scope_of_[id]);
  const std::string& label = (*layers_)[layer].label;
  llvm::StringRef around = found_[parent].path;
  std::string name = label;
  for (int i = 2; by_part_.count({parent, name}) > 0; ++i) name = label + "#" + std::to_string(i);
  llvm::StringRef path = Keep(around.empty() ? name : (around + "/" + name).str());
  ScopeId made = static_cast<ScopeId>(found_.size());
  by_part_[{parent, path.take_back(name.size())}] = made;
  found_.emplace_back();
  found_.back().parent = parent;
  found_.back().path = path;
  found_.back().name_from = found_[parent].name_from;
  found_.back().made_for_layer = true;
  layer_around_.push_back(layer_around_[parent]);
  SetLayer(made, layer);
  for (NodeId id : nodes) tree_.scope_of_[id] = made;
}

// Returns the innermost scope around both. A scope's number is greater than that of the scope
// around it.
ScopeId ScopeTree::Builder::Around(ScopeId a, ScopeId b) const {
  while (a != b) {
    ScopeId& later = a > b ? a : b;
    later = found_[later].parent;
  }
  return a;
}

// Dissolves the scopes around all layers, such as those of the model's call. Other scopes beside
// them would be lost among the layers, so there must not be any.
void ScopeTree::Builder::DropWrappers() {
  if (llvm::none_of(found_, [](const Found& scope) { return scope.layer >= 0; })) return;
  while (true) {
    std::vector<Member> scopes;
    for (const Member& member : MembersOf(kRootScope)) {
      if (member.is_scope && SizeOf(member) > 0) scopes.push_back(member);
    }
    if (scopes.size() != 1) return;
    const Found& wrapper = found_[scopes[0].id];
    bool holds_scopes = llvm::any_of(wrapper.children, [&](ScopeId child) {
      return SizeOf({true, child, ""}) > 0;
    });
    if (wrapper.layer >= 0 || wrapper.kept || !holds_scopes) return;
    tree_.wrapper_ = wrapper.path;
    Drop(scopes[0].id);
    llvm::sort(found_[kRootScope].ops);
  }
}

}  // namespace grapnel
