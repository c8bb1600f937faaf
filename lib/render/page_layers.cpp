// GraphPage::LayersJson: the layers, and the boxes that show them.
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

// Where a body shows a layer: in a scope that can be opened or, if `scope` is kNoScope, as a node.
struct LayerPlace {
  int layer;
  size_t body;
  ScopeId scope;
  NodeId node;  // the first one of the layer that has a box
};

bool HasLayers(const Graph& graph, const BoxLayers& layers) {
  for (Node node : graph.nodes())
    if (layers.Of(node) >= 0) return true;
  return false;
}

class PlaceFinder {
 public:
  explicit PlaceFinder(const BoxLayers& layers) : layers_(layers), found_(layers.size(), false) {
    for (size_t i = 0; i < layers.size(); ++i) numbers_[layers[static_cast<int>(i)].path] = i;
  }

  void AddScopes(size_t body, const BodyScopes& scopes) {
    const ScopeTree& tree = scopes.tree();
    for (ScopeId id = 0; id < tree.size(); ++id) {
      const Scope& scope = tree.scope(id);
      auto number = numbers_.find(scope.layer);
      if (scope.num_shown == 0 || number == numbers_.end()) continue;
      int layer = static_cast<int>(number->second);
      found_[layer] = true;
      places_.push_back({layer, body, scopes.IsFrame(scope.core) ? scope.core : kNoScope,
                         FirstNode(tree, scope.core)});
    }
  }

  // Adds the first node of each layer that has no scope.
  void AddNodes(size_t body, const BodyScopes& scopes) {
    for (Node node : scopes.graph().nodes()) {
      if (scopes.folding().uses[node.id()] != NodeUse::kShown) continue;
      int layer = layers_.Of(node);
      if (layer < 0 || found_[layer]) continue;
      found_[layer] = true;
      places_.push_back({layer, body, kNoScope, node.id()});
    }
  }

  llvm::ArrayRef<LayerPlace> places() const { return places_; }

 private:
  static NodeId FirstNode(const ScopeTree& tree, ScopeId id) {
    while (tree.Ops(id).empty()) {
      const Scope& scope = tree.scope(id);
      id = scope.first_child;
      while (tree.scope(id).num_shown == 0) ++id;
    }
    return tree.Ops(id)[0];
  }

  const BoxLayers& layers_;
  llvm::StringMap<size_t> numbers_;  // of layers by path
  std::vector<bool> found_;
  std::vector<LayerPlace> places_;
};

}  // namespace

std::string GraphPage::LayersJson() {
  Boxes();  // finds the layers
  PlaceFinder finder(layers_);
  std::vector<size_t> bodies;  // that have nodes of layers
  for (size_t body = 0; body < bodies_.size() && !layers_.empty(); ++body)
    if (HasLayers(graph(body), layers_)) bodies.push_back(body);
  for (size_t body : bodies) finder.AddScopes(body, Scopes(body));
  for (size_t body : bodies) finder.AddNodes(body, Scopes(body));
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("layers", [&] {
        for (size_t i = 0; i < layers_.size(); ++i)
          json.object([&] { WriteLayer(layers_[static_cast<int>(i)], json); });
      });
      json.attributeArray("boxes", [&] {
        for (const LayerPlace& place : finder.places()) {
          json.array([&] {
            json.value(place.layer);
            json.value(place.body);
            json.value(place.scope == kNoScope ? -1 : int64_t{place.scope});
            json.value(place.node);
          });
        }
      });
    });
  });
}

void GraphPage::WriteLayer(const BoxLayers::Layer& layer, llvm::json::OStream& json) const {
  json.attribute("path", layer.path);
  if (!layer.class_name.empty()) json.attribute("class", layer.class_name);
  json.attributeArray("outputs", [&] {
    for (const LayerOutput& output : layer.outputs) {
      auto place = Find(output.function, output.node);
      if (!place) continue;
      Port port = {place->second, output.index};
      json.value(TensorText(shapes(place->first).TypeOf(port), shapes(place->first).OfPort(port)));
    }
  });
  const ParameterCount& count = layer.parameters;
  json.attribute("parameters", count.all);
  if (count.is_told) json.attribute("trainable", count.trainable);
  if (count.is_open) json.attribute("open", true);
  json.attributeArray("weights", [&] {
    for (const LayerVariable& variable : layer.variables) {
      json.array([&] {
        json.value(Printable(variable.name));
        json.value(TensorText(variable.dtype, variable.shape));
        if (auto place = Find("", variable.node)) json.value(place->second);
      });
    }
  });
}

}  // namespace grapnel
