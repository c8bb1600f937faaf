#include "lib/debugger/debug_values.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

WholeValue WholeOf(const Composite& composite, llvm::ArrayRef<Tensor> parts, bool is_read,
                   int64_t limit) {
  auto text = CompositeText(composite.kind, parts, limit);
  return {composite.name, text ? *text : TextOf(text.takeError()), composite.ports, is_read};
}

void AddAt(llvm::ArrayRef<Composite> composites, llvm::ArrayRef<Tensor> tensors, bool is_read,
           int64_t limit, std::vector<WholeValue>* found) {
  for (const Composite& composite : composites) {
    std::vector<Tensor> parts;
    for (int port : composite.ports) {
      if (port < static_cast<int>(tensors.size()) && tensors[port]) parts.push_back(tensors[port]);
    }
    if (parts.size() == composite.ports.size())
      found->push_back(WholeOf(composite, parts, is_read, limit));
  }
}

// Returns the current values of the components of a composite tensor among `node`'s inputs or
// outputs; empty if a component has no value.
std::vector<Tensor> ComponentsOf(const Debugger& debugger, const Node& node,
                                 const Composite& composite, bool is_read) {
  std::vector<Tensor> parts;
  for (int port : composite.ports) {
    Port from = is_read ? node.input(port) : Port{node.id(), port};
    const KeptValue* value = from.node == kNoNode
                                 ? nullptr
                                 : debugger.history().Find({&node.graph(), from.node, from.index});
    if (!value) return {};
    parts.push_back(value->value);
  }
  return parts;
}

std::optional<ImageAxes> AxesByFormat(const Node& node) {
  auto format = node.Attr("data_format");
  auto text = format ? format->AsString() : std::nullopt;
  if (text == llvm::StringRef("NHWC")) return ImageAxes{1, 2};
  if (text == llvm::StringRef("NCHW")) return ImageAxes{2, 3};
  return std::nullopt;
}

constexpr llvm::StringLiteral kConvolutions[] = {"Conv2D", "DepthwiseConv2dNative", "_FusedConv2D",
                                                 "_FusedDepthwiseConv2dNative",
                                                 "Conv2DBackpropInput"};

}  // namespace

std::vector<WholeValue> WholeValuesAt(const DebugStop& stop, int64_t limit) {
  std::vector<WholeValue> found;
  if (!stop.node) return found;
  AddAt(CompositeInputs(stop.node), stop.inputs, /*is_read=*/true, limit, &found);
  if (stop.phase == DebugStop::Phase::kAfter)
    AddAt(CompositeOutputs(stop.node), stop.outputs, /*is_read=*/false, limit, &found);
  return found;
}

std::vector<PartOf> PartsOf(const Debugger& debugger, const WatchedPort& port, int64_t limit) {
  std::vector<PartOf> found;
  Node maker = port.graph->node(port.node);
  auto add = [&](const Node& node, const Composite& composite, bool is_read) {
    std::vector<Tensor> parts = ComponentsOf(debugger, node, composite, is_read);
    if (!parts.empty()) found.push_back({node, WholeOf(composite, parts, is_read, limit)});
  };
  for (const Composite& composite : CompositeOutputs(maker)) {
    if (llvm::is_contained(composite.ports, port.output)) add(maker, composite, false);
  }
  for (const Use& use : maker.uses()) {
    Node reader = port.graph->node(use.node);
    int slot = static_cast<int>(use.slot);
    if (slot >= reader.num_inputs() || reader.input(slot).index != port.output) continue;
    for (const Composite& composite : CompositeInputs(reader)) {
      if (llvm::is_contained(composite.ports, slot)) add(reader, composite, true);
    }
  }
  // Composites with the same text are listed once.
  std::vector<PartOf> different;
  for (PartOf& part : found) {
    if (llvm::none_of(different, [&](const PartOf& p) { return p.value.text == part.value.text; }))
      different.push_back(std::move(part));
  }
  return different;
}

std::optional<ImageAxes> ImageAxesOf(const WatchedPort& port, int rank) {
  if (rank != 4 || !port.graph) return std::nullopt;
  Node node = port.graph->node(port.node);
  if (auto axes = AxesByFormat(node)) return axes;
  for (const Use& use : node.uses()) {
    Node reader = port.graph->node(use.node);
    int slot = static_cast<int>(use.slot);
    if (slot >= reader.num_inputs() || reader.input(slot).index != port.output) continue;
    if (slot == 1 && llvm::is_contained(kConvolutions, reader.op())) return ImageAxes{0, 1};
    if (auto axes = AxesByFormat(reader)) return axes;
  }
  // Otherwise the node may be an activation, whose output has the layout of its input: uses the
  // data_format of the node that produces the input.
  if (node.num_inputs() == 0 || node.input(0).node == kNoNode) return std::nullopt;
  return AxesByFormat(port.graph->node(node.input(0).node));
}

}  // namespace grapnel
