#include "lib/io/layers/layer_names.h"

#include <map>

#include "lib/io/layers/scopes.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"

namespace grapnel {

namespace {

// Removes the names of the calls from which a node was inlined.
llvm::StringRef WithoutCalls(llvm::StringRef node) {
  while (node.contains('/') && IsCall(node.split('/').first)) node = node.split('/').second;
  return node;
}

}  // namespace

LayerNames::LayerNames(LayerTable table) : table_(std::move(table)) {
  // LayerTable::PathOf for all layers, in linear time.
  std::map<std::pair<int, llvm::StringRef>, int> count;
  for (const ModelLayer& layer : table_.layers()) {
    int number = ++count[{layer.parent, layer.name}];
    std::string label = number == 1 ? layer.name : layer.name + "#" + std::to_string(number);
    paths_.push_back(layer.parent < 0 ? label : paths_[layer.parent] + "/" + label);
  }
  owners_.assign(table_.variables().size(), -1);
  for (size_t i = 0; i < table_.layers().size(); ++i) {
    for (int variable : table_.layers()[i].variables)
      if (owners_[variable] < 0) owners_[variable] = static_cast<int>(i);
  }
  for (size_t i = 0; i < table_.variables().size(); ++i) {
    const LayerVariable& variable = table_.variables()[i];
    variables_.try_emplace(variable.name, static_cast<int>(i));
    nodes_of_variables_.try_emplace(variable.node, static_cast<int>(i));
  }
}

const std::string& LayerNames::PathOf(int layer) const {
  static const std::string kNone;
  return layer < 0 ? kNone : paths_[layer];
}

std::string LayerNames::Of(llvm::StringRef function, llvm::StringRef node) const {
  if (empty()) return ScopeAsLayer(node).str();
  int layer = table_.LayerOf(function, node);
  if (layer < 0 && function.empty()) {
    auto variable = nodes_of_variables_.find(node);
    if (variable != nodes_of_variables_.end()) layer = owners_[variable->second];
  }
  return PathOf(layer);
}

std::string LayerNames::Of(const Node& node) const {
  if (IsVariable(node)) {
    int variable = FindVariable(node.name());
    return variable >= 0 ? PathOf(owners_[variable]) : OfVariable(NameOfVariable(node));
  }
  const Function* function = FunctionOf(node.graph());
  if (!empty()) return Of(function ? function->name() : llvm::StringRef(), node.name());
  // A scope that is called as a node holds what belongs to that node.
  llvm::StringRef name = node.name();
  size_t calls = name.size() - WithoutCalls(name).size();
  for (llvm::StringRef scope = name; scope.drop_front(calls).contains('/');) {
    scope = scope.rsplit('/').first;
    if (node.graph().Find(scope)) name = scope;
  }
  return ScopeAsLayer(name).str();
}

int LayerNames::FindVariable(llvm::StringRef name) const {
  for (const auto* names : {&nodes_of_variables_, &variables_})
    if (auto found = names->find(name); found != names->end()) return found->second;
  return -1;
}

std::string LayerNames::OfVariable(llvm::StringRef name) const {
  int variable = FindVariable(name);
  if (variable >= 0) return PathOf(owners_[variable]);
  return empty() ? ScopeAsLayer(name).str() : "";
}

llvm::StringRef ScopeAsLayer(llvm::StringRef node) {
  node = WithoutCalls(node);
  size_t end = 0;
  for (size_t slash = node.find('/'); slash != llvm::StringRef::npos;
       slash = node.find('/', end + 1)) {
    llvm::StringRef part = node.slice(end == 0 ? 0 : end + 1, slash);
    bool is_of_op = part.empty() || (part[0] >= 'A' && part[0] <= 'Z');
    if (is_of_op) break;
    end = slash;
  }
  return node.take_front(end);
}

}  // namespace grapnel
