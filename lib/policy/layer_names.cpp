#include "lib/policy/layer_names.h"

#include <optional>
#include <set>

#include "lib/diff/body_view.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Parts = llvm::SmallVector<llvm::StringRef, 8>;

Parts PartsOf(llvm::StringRef name) {
  Parts parts;
  name.split(parts, '/');
  return parts;
}

std::string FirstParts(const Parts& parts, size_t count) {
  return llvm::join(llvm::ArrayRef(parts).take_front(count), "/");
}

llvm::StringRef ScopeOf(llvm::StringRef name) {
  auto [scope, leaf] = name.rsplit('/');
  return leaf.empty() ? llvm::StringRef() : scope;
}

// Returns "dense" for "dense/kernel", and the name itself for one without a scope.
llvm::StringRef OwnerOf(llvm::StringRef variable) {
  llvm::StringRef scope = ScopeOf(variable);
  return scope.empty() ? variable : scope;
}

// Finds the innermost part of a scope that is called as a part of the owner is, but for numbers: by
// the last part of the owner if possible. Returns how many parts of both belong to the layer.
std::optional<std::pair<size_t, size_t>> Meet(const Parts& scope, const Parts& owner) {
  for (size_t of_owner = owner.size(); of_owner > 0; --of_owner) {
    std::string wanted = NameClass(owner[of_owner - 1]);
    for (size_t of_scope = scope.size(); of_scope > 0; --of_scope) {
      if (NameClass(scope[of_scope - 1]) == wanted) return std::pair(of_scope, of_owner);
    }
  }
  return std::nullopt;
}

bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

LayerNames::LayerNames(const Module& module) {
  FindOuterScope(module.main);
  ReadVariables(module.main);
  FindCallers(module);
}

void LayerNames::ReadVariables(const Graph& main) {
  std::set<std::string> firsts;
  bool are_nested = true;
  size_t numbered = 0, read = 0;
  for (const Node& node : main.nodes()) {
    if (!IsVariable(node)) continue;
    const std::string name = NameOfVariable(node);
    Parts owner = PartsOf(OwnerOf(name));
    firsts.insert(owner[0].str());
    are_nested &= owner.size() > 1;
    for (const Use& use : node.uses()) {
      Parts scope = PartsOf(ScopeOf(main.node(use.node).name()));
      auto met = Meet(scope, owner);
      std::string layer = met ? FirstParts(scope, met->first) : "";
      if (layer.empty() || layer + "/" == outer_) continue;
      of_scope_.try_emplace(std::move(layer), FirstParts(owner, met->second));
      ++read;
      numbered += scope[met->first - 1].size() > owner[met->second - 1].size();
    }
  }
  if (are_nested && firsts.size() == 1) model_ = *firsts.begin() + "/";
  are_calls_numbered_ = read > 0 && numbered == read;
}

// A scope that all nodes share is the model's, unless there are only ops in it.
void LayerNames::FindOuterScope(const Graph& main) {
  std::set<std::string> firsts;
  bool has_scopes = false;
  for (const Node& node : main.nodes()) {
    Parts scope = PartsOf(ScopeOf(node.name()));
    if (scope[0].empty() || IsVariable(node)) continue;
    firsts.insert(scope[0].str());
    has_scopes |= scope.size() > 1 && !scope[1].empty() && !IsCapital(scope[1][0]);
  }
  if (firsts.size() == 1 && has_scopes) outer_ = *firsts.begin() + "/";
}

// The body of a loop belongs to the layer that loops. Callers come before the functions that their
// bodies call, as far as the main graph reaches.
void LayerNames::FindCallers(const Module& module) {
  std::vector<const Graph*> todo = {&module.main};
  while (!todo.empty()) {
    const Graph& body = *todo.back();
    todo.pop_back();
    for (const Node& node : body.nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* function = module.FindFunction(name);
        if (!function || of_body_.count(&function->body)) continue;
        of_body_[&function->body] = Of(node);
        todo.push_back(&function->body);
      }
    }
  }
}

std::string LayerNames::WithoutModel(llvm::StringRef owner) const {
  llvm::StringRef rest = owner;
  rest.consume_front(model_);
  return rest.str();
}

std::string LayerNames::OfVariable(llvm::StringRef name) const {
  return WithoutModel(OwnerOf(name));
}

std::string LayerNames::Of(const Node& node) const {
  if (IsVariable(node)) return OfVariable(NameOfVariable(node));
  // A scope that is called as a node holds that node's constants.
  llvm::StringRef scope = ScopeOf(node.name());
  while (!scope.empty() && node.graph().Find(scope)) scope = ScopeOf(scope);
  auto caller = of_body_.find(&node.graph());
  std::string known = OfScope(scope, /*is_known_only=*/true);
  if (!known.empty()) return known;
  if (caller != of_body_.end() && !caller->second.empty()) return caller->second;
  return OfScope(scope, /*is_known_only=*/false);
}

std::string LayerNames::OfScope(llvm::StringRef scope, bool is_known_only) const {
  for (llvm::StringRef at = scope; !at.empty(); at = ScopeOf(at)) {
    auto found = of_scope_.find(at.str());
    if (found != of_scope_.end()) return WithoutModel(found->second);
  }
  if (is_known_only) return "";
  if (!scope.consume_front(outer_) && (scope + "/").str() == outer_) return "";
  Parts parts = PartsOf(scope);
  auto op =
      llvm::find_if(parts, [](llvm::StringRef part) { return part.empty() || IsCapital(part[0]); });
  parts.erase(op, parts.end());
  if (parts.empty()) return "";
  auto [name, number] = parts.back().rsplit('_');
  bool is_call = are_calls_numbered_ && !number.empty() && llvm::all_of(number, llvm::isDigit);
  if (is_call) parts.back() = name;
  return llvm::join(parts, "/");
}

}  // namespace grapnel
