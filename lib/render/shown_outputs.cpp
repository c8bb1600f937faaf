#include "lib/render/shown_outputs.h"

#include <algorithm>

#include "lib/ir/node_types.h"

namespace grapnel {

std::vector<int32_t> ShownOutputs(const Node& node) {
  constexpr int kMost = 1000;
  std::vector<int32_t> ports(std::clamp(NumOutputs(node), 0, kMost));
  for (size_t i = 0; i < ports.size(); ++i) ports[i] = static_cast<int32_t>(i);
  for (const Use& use : node.uses()) {
    Port port = node.graph().node(use.node).input(static_cast<int>(use.slot));
    if (!port.IsControl()) ports.push_back(port.index);
  }
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

}  // namespace grapnel
