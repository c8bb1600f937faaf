#include "lib/io/layers/layers.h"

#include <set>

#include "lib/ir/types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

int64_t LayerVariable::elements() const {
  return shape.IsFullyKnown() ? shape.NumElements().value_or(-1) : -1;
}

std::vector<int> LayerTable::LayersIn(int parent) const {
  std::vector<int> layers;
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].parent == parent) layers.push_back(static_cast<int>(i));
  }
  return layers;
}

namespace {

constexpr int kUnknown = -2;      // the file's graph has neither the node nor a scope of it
constexpr int kMostScopes = 200;  // names may be hostile

}  // namespace

int LayerTable::LayerOf(llvm::StringRef function, llvm::StringRef node) const {
  if (int layer = LayerIn(function, node); layer != kUnknown) return layer;
  if (auto found = functions_.find(function); found != functions_.end()) return found->second;
  return function.empty() ? LayerOfInlined(node) : -1;
}

int LayerTable::LayerOfInlined(llvm::StringRef node) const {
  bool has_functions = nodes_.size() > nodes_.count("");
  for (int i = 0; i < kMostScopes && has_functions && node.contains('/'); ++i) {
    node = node.split('/').second;
    int best = kUnknown;
    for (const auto& body : nodes_) {
      int layer = LayerIn(body.first(), node);
      if (layer >= 0 && (best < 0 || layer < best)) best = layer;
    }
    if (best >= 0) return best;
  }
  return -1;
}

// Returns the layer of a node in one body; kUnknown if neither the node nor a scope around it is
// known there.
int LayerTable::LayerIn(llvm::StringRef function, llvm::StringRef node) const {
  if (auto body = nodes_.find(function); body != nodes_.end()) {
    if (auto found = body->second.find(node); found != body->second.end()) return found->second;
  }
  if (auto body = scopes_.find(function); body != scopes_.end()) {
    llvm::StringRef scope = node;
    for (int i = 0; i < kMostScopes && scope.contains('/'); ++i) {
      scope = scope.rsplit('/').first;
      if (auto found = body->second.find(scope); found != body->second.end()) return found->second;
    }
  }
  return kUnknown;
}

int LayerTable::LayerOf(const Node& node) const {
  const Function* function = FunctionOf(node.graph());
  return LayerOf(function ? function->name() : llvm::StringRef(), node.name());
}

llvm::StringRef LayerTable::NameOfSublayer(llvm::StringRef function, llvm::StringRef scope) const {
  auto body = sublayers_.find(function);
  if (body == sublayers_.end()) return "";
  auto found = body->second.find(scope);
  return found == body->second.end() ? llvm::StringRef() : llvm::StringRef(found->second);
}

bool LayerTable::IsIn(int layer, int outer) const {
  while (layer >= 0 && layer != outer) layer = layers_[layer].parent;
  return layer == outer;
}

std::string LayerTable::LabelOf(int layer) const {
  const ModelLayer& itself = layers_[layer];
  int number = 1;
  for (int i = 0; i < layer; ++i)
    number += layers_[i].parent == itself.parent && layers_[i].name == itself.name;
  return number == 1 ? itself.name : itself.name + "#" + std::to_string(number);
}

std::string LayerTable::PathOf(int layer) const {
  std::string path = LabelOf(layer);
  for (int outer = layers_[layer].parent; outer >= 0; outer = layers_[outer].parent)
    path = LabelOf(outer) + "/" + path;
  return path;
}

int LayerTable::Find(llvm::StringRef path) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    llvm::StringRef name = layers_[i].name;
    bool may_be = path.contains(name) && PathOf(static_cast<int>(i)) == path;
    if (may_be) return static_cast<int>(i);
  }
  return -1;
}

ParameterCount LayerTable::ParametersOf(int layer) const {
  std::set<int> variables;
  if (layer < 0) variables.insert(of_model_.begin(), of_model_.end());
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (layer < 0 || IsIn(static_cast<int>(i), layer))
      variables.insert(layers_[i].variables.begin(), layers_[i].variables.end());
  }
  ParameterCount count;
  for (int i : variables) {
    const LayerVariable& variable = variables_[i];
    int64_t elements = variable.elements();
    count.is_told |= variable.trainable.has_value();
    if (elements < 0) {
      count.is_open = true;
      continue;
    }
    count.all += elements;
    count.bytes += elements * static_cast<int64_t>(DataTypeSize(BaseType(variable.dtype)));
    if (variable.trainable.value_or(false)) count.trainable += elements;
  }
  return count;
}

}  // namespace grapnel
