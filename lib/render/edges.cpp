#include "lib/render/edges.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

struct LabelledBundle {
  EdgeBundle bundle;
  Port last;           // the port that was labelled last: many edges in a row come from one
  bool mixed = false;  // labels disagree in everything
};

bool IsNextIteration(const Node& node) {
  return node.op() == "NextIteration" || node.op() == "RefNextIteration";
}

// What two labels have in common: dtype, or shape.
std::string Common(const std::string& a, const std::string& b) {
  if (a == b) return a;
  size_t a_shape = std::min(a.find('['), a.size()), b_shape = std::min(b.find('['), b.size());
  if (a_shape > 0 && a.compare(0, a_shape, b, 0, b_shape) == 0) return a.substr(0, a_shape);
  if (a_shape < a.size() && a.compare(a_shape, a.npos, b, b_shape, b.npos) == 0)
    return a.substr(a_shape);
  return "";
}

void AddLabel(LabelledBundle* bundle, Port port, const PortLabel& label) {
  bool first = bundle->bundle.count == 1;
  if (bundle->mixed || (!first && bundle->last == port)) return;
  bundle->last = port;
  std::string text = label(port);
  bundle->bundle.label = first ? text : Common(bundle->bundle.label, text);
  bundle->mixed = bundle->bundle.label.empty();
}

}  // namespace

std::vector<EdgeBundle> BundleEdges(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                                    const PortLabel& label, EdgeCounts* counts) {
  std::vector<LabelledBundle> bundles;
  llvm::DenseMap<uint64_t, size_t> index[2];  // data, control
  for (Node node : graph.nodes()) {
    uint32_t to = box_of[node.id()];
    if (to == kBoxOutside) continue;
    for (Port port : node.inputs()) {
      uint32_t from = port.node == kNoNode ? kBoxOutside : box_of[port.node];
      if (port.node == kNoNode) {
        ++counts->dangling;
      } else if (from == kBoxOutside) {
        ++counts->outside;
      } else if (from == kBoxFolded || to == kBoxFolded) {
        ++counts->folded;
      } else if (from == to && port.node != node.id()) {
        ++counts->inside;
      } else {
        ++(port.IsControl() ? counts->control : counts->data);
        auto [it, fresh] =
            index[port.IsControl()].try_emplace(uint64_t{from} << 32 | to, bundles.size());
        if (fresh) {
          bundles.emplace_back();
          bundles.back().bundle = {from, to, port.IsControl(), 0, true, {}};
        }
        LabelledBundle& bundle = bundles[it->second];
        ++bundle.bundle.count;
        bundle.bundle.back &= !port.IsControl() && IsNextIteration(graph.node(port.node));
        if (label && !port.IsControl()) AddLabel(&bundle, port, label);
      }
    }
  }
  std::vector<EdgeBundle> result;
  result.reserve(bundles.size());
  for (LabelledBundle& bundle : bundles) result.push_back(std::move(bundle.bundle));
  std::sort(result.begin(), result.end(), [](const EdgeBundle& a, const EdgeBundle& b) {
    return std::tie(a.from, a.to, a.control) < std::tie(b.from, b.to, b.control);
  });
  return result;
}

}  // namespace grapnel
