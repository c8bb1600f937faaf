#include "lib/render/edges.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

struct LabeledBundle {
  EdgeBundle bundle;
  ControlEnds ends;
  Port last;           // the last port in `label`: consecutive edges often share a port
  bool mixed = false;  // the labels have no common part
};

void AddLabel(LabeledBundle* bundle, Port port, const PortLabel& label) {
  bool first = bundle->bundle.count == 1;
  if (bundle->mixed || (!first && bundle->last == port)) return;
  bundle->last = port;
  std::string text = label(port);
  bundle->bundle.label = first ? text : CommonLabel(bundle->bundle.label, text);
  bundle->mixed = bundle->bundle.label.empty();
}

}  // namespace

bool IsHandleType(DataType dtype) {
  DataType base = BaseType(dtype);
  return base == proto::DT_RESOURCE || base == proto::DT_VARIANT;
}

bool IsNextIteration(const Node& node) {
  return node.op() == "NextIteration" || node.op() == "RefNextIteration";
}

std::string CommonLabel(llvm::StringRef a, llvm::StringRef b) {
  if (a == b) return a.str();
  auto [a_type, b_type] = std::pair(a.take_until([](char c) { return c == '['; }),
                                    b.take_until([](char c) { return c == '['; }));
  if (!a_type.empty() && a_type == b_type) return a_type.str();
  llvm::StringRef a_shape = a.drop_front(a_type.size()), b_shape = b.drop_front(b_type.size());
  return !a_shape.empty() && a_shape == b_shape ? a_shape.str() : "";
}

std::vector<EdgeBundle> BundleEdges(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                                    const PortLabel& label, const PortType& type,
                                    EdgeCounts* counts) {
  std::vector<LabeledBundle> bundles;
  llvm::DenseMap<uint64_t, size_t> index[2];  // for data and control edges
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
          bundles.back().bundle = {.from = from, .to = to, .control = port.IsControl()};
        }
        LabeledBundle& bundle = bundles[it->second];
        ++bundle.bundle.count;
        if (port.IsControl()) bundle.ends.Add(port.node, node.id());
        bundle.bundle.back &= !port.IsControl() && IsNextIteration(graph.node(port.node));
        bundle.bundle.handles &= !port.IsControl() && type && IsHandleType(type(port));
        if (label && !port.IsControl()) AddLabel(&bundle, port, label);
      }
    }
  }
  std::vector<EdgeBundle> result;
  result.reserve(bundles.size());
  for (LabeledBundle& bundle : bundles) {
    bundle.bundle.producers = bundle.ends.producers.size();
    bundle.bundle.waiters = bundle.ends.waiters.size();
    result.push_back(std::move(bundle.bundle));
  }
  std::sort(result.begin(), result.end(), [](const EdgeBundle& a, const EdgeBundle& b) {
    return std::tie(a.from, a.to, a.control) < std::tie(b.from, b.to, b.control);
  });
  return result;
}

}  // namespace grapnel
