#include "lib/place/cost_report.h"

#include <algorithm>
#include <map>

#include "lib/ir/node_types.h"
#include "lib/place/memory_types.h"
#include "lib/place/placement_report.h"
#include "lib/shape/flops.h"

namespace grapnel {
namespace {

class Simulation {
 public:
  explicit Simulation(const PlacementContext& context)
      : graph_(context.graph),
        devices_(context.devices),
        placement_(context.placement),
        memory_(context),
        shapes_(InferShapes(context.graph)) {}

  CostReport Run() {
    report_.devices.resize(devices_.size());
    finish_.assign(graph_.end_id(), 0);
    has_run_.assign(graph_.end_id(), false);
    steps_.resize(graph_.end_id());
    free_.assign(devices_.size(), 0);
    last_.assign(devices_.size(), kNoNode);
    NodeId end = kNoNode;
    for (NodeId id : TopologicalOrder(graph_)) {
      RunNode(graph_.node(id));
      if (end == kNoNode || finish_[id] > finish_[end]) end = id;
    }
    if (end != kNoNode) report_.seconds = finish_[end];
    for (NodeId id = end; id != kNoNode; id = steps_[id].before)
      report_.path.push_back(steps_[id].step);
    std::reverse(report_.path.begin(), report_.path.end());
    for (const auto& [ends, link] : links_) report_.links.push_back(link.load);
    return std::move(report_);
  }

 private:
  struct Step {
    PathStep step;
    NodeId before = kNoNode;
  };
  struct Link {
    LinkLoad load;
    double free = 0;
  };

  int DeviceOf(NodeId id) const { return placement_.Of(id).device; }
  bool IsCpu(int device) const { return devices_.device(device).name.type.text() == "CPU"; }

  int64_t Bytes(Port port) const { return TensorBytes(shapes_.TypeOf(port), shapes_.OfPort(port)); }

  double Seconds(const Node& node) {
    if (node.inputs().empty() && MovesNothing(node.op())) return 0;
    const ListedDevice& device = devices_.device(DeviceOf(node.id()));
    bool is_cpu = IsCpu(DeviceOf(node.id()));
    double flops_rate = device.flops > 0 ? device.flops : is_cpu ? 50e9 : 10e12;
    double memory_rate = device.memory_bandwidth > 0 ? device.memory_bandwidth
                         : is_cpu                    ? 20e9
                                                     : 500e9;
    std::optional<int64_t> flops = EstimateFlops(node, shapes_);
    bool known = flops.has_value();
    double bytes = 0;
    auto add = [&](Port port) {
      int64_t more = Bytes(port);
      if (more > 0) bytes += static_cast<double>(more);
      known &= more >= 0;
    };
    if (!MovesNothing(node.op())) {
      for (int i = 0; i < node.num_inputs(); ++i) add(node.input(i));
      for (int port = 0, end = NumOutputs(node); port < end; ++port) add({node.id(), port});
    }
    report_.unknown += !known;
    return std::max({is_cpu ? 2e-6 : 5e-6, flops.value_or(0) / flops_rate, bytes / memory_rate});
  }

  // Returns the time at which the value of `port` arrives; sends a value to each memory only once.
  double Arrival(Port port, const TensorWay& way) {
    auto [there, is_new] =
        arrivals_.try_emplace({port.node, port.index, way.target, way.to_host}, 0);
    if (!is_new) return there->second;
    int source = way.source, target = way.target;
    if (source == target) {
      int host = memory_.HostOf(source);
      if (host >= 0) (way.to_host ? target : source) = host;
    }
    Link& link = links_[{source, target}];
    link.load.source = source;
    link.load.target = target;
    const DeviceLink* given = devices_.FindLink(source, target);
    bool one_task = AreOfOneTask(devices_, source, target);
    double rate = given ? given->bytes_per_second : one_task ? 10e9 : 1.25e9;
    double latency = given ? given->latency_seconds : one_task ? 10e-6 : 50e-6;
    int64_t bytes = port.IsControl() ? 0 : Bytes(port);
    double start = std::max(finish_[port.node], link.free);
    double sending = std::max<int64_t>(bytes, 0) / rate;
    link.free = start + sending;
    ++link.load.transfers;
    link.load.unknown += bytes < 0;
    link.load.bytes += std::max<int64_t>(bytes, 0);
    link.load.seconds += latency + sending;
    return there->second = start + latency + sending;
  }

  void RunNode(const Node& node) {
    int device = DeviceOf(node.id());
    Step& own = steps_[node.id()];
    double ready = 0;
    llvm::SmallVector<Port, 4> inputs = node.inputs();
    for (uint32_t slot = 0; slot < inputs.size(); ++slot) {
      Port port = inputs[slot];
      if (port.node == kNoNode || !has_run_[port.node]) continue;  // an edge from NextIteration
      TensorWay way{DeviceOf(port.node), device, false, false, DeviceOf(port.node) != device};
      if (!port.IsControl()) way = memory_.WayTo({node.id(), slot});
      double arrival = way.is_copied ? Arrival(port, way) : finish_[port.node];
      if (arrival <= ready) continue;
      ready = arrival;
      own.before = port.node;
      own.step.transfer = arrival - finish_[port.node];
    }
    if (free_[device] > ready) {
      ready = free_[device];
      own.before = last_[device];
      own.step.transfer = 0;
      own.step.was_queued = true;
    }
    own.step.node = node.id();
    own.step.start = ready;
    own.step.seconds = Seconds(node);
    finish_[node.id()] = free_[device] = ready + own.step.seconds;
    last_[device] = node.id();
    has_run_[node.id()] = true;
    ++report_.devices[device].nodes;
    report_.devices[device].seconds += own.step.seconds;
  }

  const Graph& graph_;
  const DeviceSet& devices_;
  const Placement& placement_;
  PlacedMemory memory_;
  ShapeMap shapes_;
  std::vector<double> finish_;  // by node
  std::vector<bool> has_run_;   // by node
  std::vector<Step> steps_;     // by node
  std::vector<double> free_;    // by device
  std::vector<NodeId> last_;    // by device: the last node that ran on it
  std::map<std::tuple<NodeId, int32_t, int, bool>, double> arrivals_;
  std::map<std::pair<int, int>, Link> links_;
  CostReport report_;
};

}  // namespace

CostReport MakeCostReport(const PlacementContext& context) { return Simulation(context).Run(); }

}  // namespace grapnel
