#include "lib/io/layers/draft.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

int Draft::FindOrAdd(int parent, llvm::StringRef name) {
  for (; num_listed_ < layers.size(); ++num_listed_) {
    const DraftLayer& layer = layers[num_listed_];
    by_name_.try_emplace({layer.parent, layer.name}, static_cast<int>(num_listed_));
  }
  auto found = by_name_.find({parent, name.str()});
  return found == by_name_.end() ? Add(parent, name) : found->second;
}

int Draft::Add(int parent, llvm::StringRef name) {
  DraftLayer& layer = layers.emplace_back();
  layer.parent = parent;
  layer.name = name.str();
  return static_cast<int>(layers.size()) - 1;
}

int Draft::ChildOf(int parent, int layer) const {
  while (layer >= 0 && layers[layer].parent != parent) layer = layers[layer].parent;
  return layer;
}

int Draft::Common(int a, int b) const {
  for (; a >= 0; a = layers[a].parent) {
    for (int one = b; one >= 0; one = layers[one].parent) {
      if (one == a) return a;
    }
  }
  return -1;
}

std::pair<int, int> Draft::CallOf(const BodyLayers& found, int parent, NodeId node) const {
  int layer = ChildOf(parent, found.of_node[node]);
  if (layer < 0) return {-1, -1};
  for (int scope = found.scopes.Of(node); scope >= 0; scope = found.scopes[scope].parent) {
    if (found.of_call[scope] == layer) return {layer, scope};
  }
  return {layer, -1};
}

bool IsHelper(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Const", "Identity", "IdentityN", "NoOp", "Cast", "ReadVariableOp", true)
      .Cases("Placeholder", "PlaceholderWithDefault", "StopGradient", "EnsureShape", true)
      .Default(false);
}

void GiveHelpersToReaders(const Draft& draft, BodyLayers* found) {
  const Graph& graph = *found->body->graph;
  for (NodeId id : llvm::reverse(found->body->nodes)) {
    Node node = graph.node(id);
    int container = found->of_node[id];
    bool is_between = container < 0 || draft.layers[container].is_model;
    if (!is_between || !IsHelper(node.op()) || node.op().starts_with("Placeholder")) continue;
    int layer = -1;
    bool is_one = true;
    for (const Use& use : node.uses()) {
      if (graph.node(use.node).input(static_cast<int>(use.slot)).IsControl()) continue;
      int reader = draft.ChildOf(container, found->of_node[use.node]);
      is_one &= reader >= 0 && (layer < 0 || layer == reader);
      layer = reader;
    }
    if (is_one && layer >= 0) found->of_node[id] = layer;
  }
}

}  // namespace grapnel
