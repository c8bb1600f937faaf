#include "lib/render/box_layers.h"

#include <utility>

#include "lib/io/layers/layer_names.h"
#include "lib/support/printable.h"

namespace grapnel {

BoxLayers::BoxLayers(LayerTable table) : BoxLayers(std::move(table), LayerTable()) {}

BoxLayers::BoxLayers(LayerTable table, LayerTable other)
    : table_(std::move(table)), other_(std::move(other)) {
  Add(table_, &numbers_);
  Add(other_, &numbers_of_other_);
}

void BoxLayers::Add(const LayerTable& table, std::vector<int>* numbers) {
  for (const LayerVariable& variable : table.variables())
    variables_.try_emplace(variable.node, variable.name);
  const LayerNames names(table);
  for (size_t i = 0; i < table.layers().size(); ++i) {
    const ModelLayer& from = table.layers()[i];
    const std::string& path = names.PathOf(static_cast<int>(i));
    auto [it, is_new] = by_path_.try_emplace(path, static_cast<int>(layers_.size()));
    numbers->push_back(it->second);
    if (!is_new) continue;
    Layer& layer = layers_.emplace_back();
    layer.parent = from.parent < 0 ? -1 : (*numbers)[from.parent];
    size_t begin = from.parent < 0 ? 0 : names.PathOf(from.parent).size() + 1;
    layer.path = Printable(path);
    layer.label = Printable(llvm::StringRef(path).substr(begin));
    layer.name = from.name;
    layer.class_name = Printable(from.class_name);
    layer.is_model = from.is_model;
    layer.outputs = from.outputs;
    for (int variable : from.variables) layer.variables.push_back(table.variables()[variable]);
    layer.parameters = table.ParametersOf(static_cast<int>(i));
  }
}

int BoxLayers::Of(const Node& node) const {
  int layer = table_.empty() ? -1 : table_.LayerOf(node);
  if (layer >= 0) return numbers_[layer];
  layer = other_.empty() ? -1 : other_.LayerOf(node);
  return layer < 0 ? -1 : numbers_of_other_[layer];
}

llvm::StringRef BoxLayers::NameOfSublayer(const Graph& graph, llvm::StringRef scope) const {
  const Function* function = FunctionOf(graph);
  llvm::StringRef body = function ? function->name() : llvm::StringRef();
  llvm::StringRef name = table_.NameOfSublayer(body, scope);
  return name.empty() ? other_.NameOfSublayer(body, scope) : name;
}

int BoxLayers::Common(int a, int b) const {
  while (a != b) {
    int& later = a > b ? a : b;
    later = layers_[later].parent;
  }
  return a;
}

}  // namespace grapnel
