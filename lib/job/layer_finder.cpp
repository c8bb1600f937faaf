#include "lib/job/layer_finder.h"

#include "lib/ir/name_parts.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns the last part of a name without the number that TensorFlow adds to a name that is taken.
llvm::StringRef LastPartWithoutNumber(llvm::StringRef name) {
  llvm::StringRef last = name.rsplit('/').second;
  if (last.empty()) last = name;
  auto [before, number] = last.rsplit('_');
  bool has_number =
      !number.empty() && llvm::all_of(number, [](char c) { return llvm::isDigit(c); });
  return has_number ? before : last;
}

template <typename Visit>
void ForEachBody(const Module& module, Visit visit) {
  visit(module.main);
  for (const auto& function : module.functions) visit(function->body);
}

}  // namespace

LayerFinder::LayerFinder(const OpenedGraph& opened, std::string network)
    : module_(opened.module()), network_(std::move(network)), table_(LayersOf(opened.file())) {}

std::vector<int> LayerFinder::Named(llvm::StringRef name) const {
  if (int exact = table_.Find(name); exact >= 0) return {exact};
  std::vector<int> found;
  for (size_t i = 0; i < table_.layers().size(); ++i) {
    int layer = static_cast<int>(i);
    if (EndsWithParts(table_.PathOf(layer), name)) found.push_back(layer);
  }
  return found;
}

int LayerFinder::LayerOf(const Node& node) const {
  int layer = table_.LayerOf(node);
  if (layer >= 0 || network_.empty() || FunctionOf(node.graph())) return layer;
  AnyEnd(node.name(), [&](llvm::StringRef end) {
    layer = table_.LayerOf(network_, end);
    return layer >= 0;
  });
  return layer;
}

std::vector<Node> LayerFinder::NodesOf(int layer) const {
  std::vector<Node> nodes;
  ForEachBody(module_, [&](const Graph& body) {
    for (Node node : body.nodes())
      if (table_.IsIn(LayerOf(node), layer)) nodes.push_back(node);
  });
  return nodes;
}

Node LayerFinder::Find(const LayerOutput& output) const {
  if (const Function* function = module_.FindFunction(output.function))
    return function->body.Find(output.node);
  return output.function.empty() || output.function == network_ ? module_.main.Find(output.node)
                                                                : Node();
}

std::vector<std::pair<const Graph*, Port>> LayerFinder::OutputsOf(int layer) const {
  std::vector<std::pair<const Graph*, Port>> outputs;
  for (const LayerOutput& output : table_.layers()[layer].outputs) {
    if (Node node = Find(output))
      outputs.emplace_back(&node.graph(), Port{node.id(), output.index});
  }
  // The table has the outputs of the last call. Those of other calls are made by the same op in
  // another scope, or by one with another number.
  const size_t of_last_call = outputs.size();
  for (size_t i = 0; i < of_last_call; ++i) {
    const auto [body, port] = outputs[i];
    Node last = body->node(port.node);
    if (LayerOf(last) != layer) continue;  // the layer hands on what it reads
    for (Node node : body->nodes()) {
      bool is_alike = node.op() == last.op() &&
                      LastPartWithoutNumber(node.name()) == LastPartWithoutNumber(last.name());
      if (!is_alike || node == last || LayerOf(node) != layer) continue;
      bool is_read = llvm::any_of(node.uses(), [&, index = port.index](const Use& use) {
        Node reader = node.graph().node(use.node);
        Port read = reader.input(static_cast<int>(use.slot));
        return read == Port{node.id(), index} && !table_.IsIn(LayerOf(reader), layer);
      });
      std::pair<const Graph*, Port> one(&node.graph(), Port{node.id(), port.index});
      if (is_read && !llvm::is_contained(outputs, one)) outputs.push_back(one);
    }
  }
  return outputs;
}

}  // namespace grapnel
