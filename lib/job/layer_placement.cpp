#include "lib/job/layer_placement.h"

#include "lib/diff/layer_story.h"
#include "lib/place/placement_text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostOps = 3;

using NodesByOp = std::map<std::string, size_t>;

size_t NumNodes(const NodesByOp& ops) {
  size_t nodes = 0;
  for (const auto& [op, count] : ops) nodes += count;
  return nodes;
}

std::string OpsText(const NodesByOp& ops) {
  std::string text;
  size_t shown = 0;
  for (const auto& [op, count] : ops) {
    if (shown++ == kMostOps) return text + " and other ops";
    text += (text.empty() ? "" : " and ") + op;
  }
  return text;
}

// Returns "on GPU:0, AsString on CPU:0": the device of most nodes, and what is elsewhere.
std::string DevicesText(const LayerPlacement& placement) {
  auto most = std::max_element(
      placement.devices.begin(), placement.devices.end(),
      [](const auto& x, const auto& y) { return NumNodes(x.second) < NumNodes(y.second); });
  std::string text = "on " + most->first;
  for (const auto& [device, ops] : placement.devices)
    if (device != most->first) text += ", " + OpsText(ops) + " on " + device;
  return text;
}

}  // namespace

void AddPlacement(const PlacementContext& context, llvm::StringRef function,
                  const LayerNames& layers, std::vector<LayerPlacement>* placements) {
  if (layers.empty() || context.placement.failure) return;
  if (placements->empty()) {
    for (size_t i = 0; i < layers.table().layers().size(); ++i)
      placements->push_back({layers.PathOf(static_cast<int>(i)), {}});
  }
  for (NodeId id : context.placement.order) {
    Node node = context.graph.node(id);
    if (node.op() == "Const" || node.op() == "NoOp") continue;
    int layer = layers.table().LayerOf(function, node.name());
    // Copies of functions have other names than the functions.
    if (layer < 0) layer = layers.table().LayerOf("", node.name());
    if (layer < 0) continue;
    std::string device = ShortName(context.devices, context.placement.Of(id).device);
    ++(*placements)[layer].devices[device][node.op().str()];
  }
}

void WriteLayerPlacements(llvm::ArrayRef<LayerPlacement> placements, bool all,
                          llvm::raw_ostream& os) {
  std::vector<LayerText> texts;
  for (const LayerPlacement& placement : placements)
    if (!placement.devices.empty()) texts.push_back({placement.layer, DevicesText(placement)});
  if (texts.empty()) return;
  os << "layers\n";
  WriteLayerTexts(texts, all, "--table", os);
  os << "\n";
}

void WriteLayerPlacementsJson(llvm::ArrayRef<LayerPlacement> placements,
                              llvm::json::OStream& json) {
  if (placements.empty()) return;
  json.attributeArray("layers", [&] {
    for (const LayerPlacement& placement : placements) {
      if (placement.devices.empty()) continue;
      json.object([&] {
        json.attribute("layer", llvm::json::fixUTF8(placement.layer));
        json.attributeObject("devices", [&] {
          for (const auto& [device, ops] : placement.devices)
            json.attribute(llvm::json::fixUTF8(device), static_cast<int64_t>(NumNodes(ops)));
        });
      });
    }
  });
}

}  // namespace grapnel
