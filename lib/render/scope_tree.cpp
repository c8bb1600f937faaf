#include "lib/render/scope_tree.h"

#include "lib/render/scope_tree_builder.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

llvm::StringRef WithoutSlashes(llvm::StringRef path) {
  while (path.size() > 1 && path.back() == '/') path = path.drop_back();
  return path;
}

}  // namespace

ScopeTree::ScopeTree(const Graph& graph, llvm::ArrayRef<NodeUse> uses, uint32_t group_above,
                     bool keep_outermost, const BoxLayers* layers) {
  Builder(graph, uses, layers, this).Build(group_above, keep_outermost);
}

ScopeId ScopeTree::Find(llvm::StringRef path) const {
  const llvm::StringRef typed = path;
  bool group = path.size() > 1 && path.back() == '*';
  path = group ? path.drop_back() : WithoutSlashes(path);
  for (ScopeId id = 0; id < scopes_.size(); ++id) {
    if (IsPrefix(id) == group && scopes_[id].path == path) return id;
  }
  if (ScopeId around = AroundDissolved(typed); around != kNoScope) return around;
  for (ScopeId id = kRootScope + 1; id < scopes_.size(); ++id) {
    if (!scopes_[id].layer.empty() && scopes_[id].layer == WithoutSlashes(typed)) return id;
  }
  for (ScopeId id = kRootScope + 1; id < scopes_.size(); ++id) {
    if (IsMadeUp(id) && (scopes_[id].title == typed || TitleText(id) == typed)) return id;
  }
  return kNoScope;
}

ScopeId ScopeTree::AroundDissolved(llvm::StringRef path) const {
  for (auto& [dropped, into] : dropped_) {
    if (dropped == WithoutSlashes(path)) return into;
  }
  return kNoScope;
}

bool ScopeTree::IsDissolved(llvm::StringRef path) const {
  llvm::StringRef typed = WithoutSlashes(path);
  bool is_wrapper = (wrapper_ + "/").str().starts_with((typed + "/").str());
  return !is_wrapper && AroundDissolved(path) != kNoScope;
}

std::string ScopeTree::TypedText(ScopeId id) const {
  const Scope& scope = scopes_[id];
  if (!scope.layer.empty()) return scope.layer.str();
  return scope.title.empty() ? PathText(id) : scope.title.str();
}

std::string ScopeTree::PathText(ScopeId id) const {
  return scopes_[id].path.str() + (IsPrefix(id) ? "*" : "");
}

std::string ScopeTree::TitleText(ScopeId id) const {
  const Scope& scope = scopes_[id];
  std::string title = TypedText(id);
  if (scope.num_taken > 0) return title + " + " + Plural(scope.num_taken, "op");
  if (!scope.group || scope.part) return title;
  return title + " \xc3\x97" + std::to_string(NumMembers(id));
}

size_t ScopeTree::NumMembers(ScopeId id) const {
  size_t count = 0;
  llvm::SmallVector<ScopeId, 8> stack = {id};
  while (!stack.empty()) {
    const Scope& scope = scopes_[stack.pop_back_val()];
    bool slices = scope.num_children > 0 && scopes_[scope.first_child].slice;
    if (!slices) count += scope.num_entities;
    for (ScopeId i = 0; slices && i < scope.num_children; ++i)
      stack.push_back(scope.first_child + i);
  }
  return count;
}

ScopeId ScopeTree::RealScope(ScopeId id) const {
  while (scopes_[id].group) id = scopes_[id].parent;
  return id;
}

llvm::StringRef ScopeTree::BaseOf(ScopeId id) const {
  while (scopes_[id].group || scopes_[id].made_for_layer) id = scopes_[id].parent;
  return id == kRootScope ? wrapper_ : scopes_[id].path;
}

llvm::StringRef ScopeTree::LayerAround(ScopeId id) const {
  while (id != kRootScope && scopes_[id].layer.empty()) id = scopes_[id].parent;
  return id == kRootScope ? layer_around_ : scopes_[id].layer;
}

}  // namespace grapnel
