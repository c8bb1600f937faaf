#include "lib/place/placement_report.h"

#include <algorithm>

#include "lib/ir/node_types.h"
#include "lib/place/memory_types.h"
#include "lib/shape/inference.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class Reporter {
 public:
  explicit Reporter(const PlacementContext& context)
      : context_(context),
        graph_(context.graph),
        devices_(context.devices),
        placement_(context.placement),
        variables_(context.variables),
        memory_(context),
        shapes_(InferShapes(context.graph)) {}

  PlacementReport Run() {
    report_.memory.resize(devices_.size());
    CountScopes();
    FindCrossings();
    FindIslands();
    CountWeights();
    FindPeaks();
    return std::move(report_);
  }

 private:
  int DeviceOf(NodeId id) const { return placement_.Of(id).device; }

  int64_t BytesOf(Port port) const {
    return TensorBytes(shapes_.TypeOf(port), shapes_.OfPort(port));
  }

  void CountScopes() {
    for (NodeId id : placement_.order) {
      if (!context_.Counts(id)) continue;
      auto [scope, rest] = graph_.node(id).name().split('/');
      std::vector<int>& counts = report_.scopes[rest.empty() ? "" : scope.str()];
      counts.resize(devices_.size());
      ++counts[DeviceOf(id)];
    }
  }

  void FindCrossings() {
    for (Node node : graph_.nodes()) {
      llvm::SmallVector<DeviceTransfer, 4> found;
      for (const Use& use : node.uses()) {
        Port port = graph_.node(use.node).input(use.slot);
        if (port.IsControl() || !context_.Counts(use.node)) continue;
        TensorWay way = memory_.WayTo(use);
        if (!way.Crosses()) continue;
        auto same = llvm::find_if(found, [&](const DeviceTransfer& c) {
          return c.from == port && c.target == way.target && c.to_host == way.to_host;
        });
        if (same != found.end()) {
          same->reader = std::min(same->reader, use.node);
        } else {
          found.push_back({port, use.node, way.source, way.target, way.from_host, way.to_host,
                           way.is_copied, BytesOf(port)});
        }
      }
      llvm::sort(found, [](const DeviceTransfer& a, const DeviceTransfer& b) {
        return std::tuple(a.from.index, a.target, a.to_host) <
               std::tuple(b.from.index, b.target, b.to_host);
      });
      report_.crossings.insert(report_.crossings.end(), found.begin(), found.end());
    }
  }

  bool IsCpu(int device) const { return devices_.device(device).name.type.text() == "CPU"; }

  void FindIslands() {
    for (Node node : graph_.nodes()) {
      if (placement_.groups->OwnTypes(node.id()) != (1ull << devices_.types().size()) - 1)
        limited_[placement_.groups->RootOf(node.id())].push_back(node.id());
    }
    llvm::DenseSet<NodeId> seen;
    for (Node node : graph_.nodes()) {
      if (!context_.Counts(node.id()) || !IsCpu(DeviceOf(node.id()))) continue;
      if (!seen.insert(node.id()).second) continue;
      Island island;
      island.device = DeviceOf(node.id());
      island.nodes = {node.id()};
      llvm::DenseSet<int> around;
      bool reads = false, is_read = false;
      for (size_t i = 0; i < island.nodes.size(); ++i) {
        Node at = graph_.node(island.nodes[i]);
        auto visit = [&](NodeId next, const Use& use, bool* flag) {
          if (!context_.Counts(next)) return;
          int device = DeviceOf(next);
          if (device == island.device) {
            if (seen.insert(next).second) island.nodes.push_back(next);
          } else if (!IsCpu(device)) {
            *flag |= memory_.WayTo(use).is_copied;
            around.insert(devices_.TypeOf(device));
          }
        };
        for (int k = 0; k < at.num_inputs(); ++k) {
          if (at.input_node(k))
            visit(at.input(k).node, {at.id(), static_cast<uint32_t>(k)}, &reads);
        }
        for (const Use& use : at.uses()) {
          if (!graph_.node(use.node).input(use.slot).IsControl()) visit(use.node, use, &is_read);
        }
      }
      if (reads && is_read) AddIsland(std::move(island), around);
    }
    CountIslandBytes();
  }

  void AddIsland(Island island, const llvm::DenseSet<int>& around) {
    llvm::sort(island.nodes);
    uint32_t types = 0;
    for (int type : around) types |= uint32_t{1} << type;
    const Colocation& groups = *placement_.groups;
    llvm::DenseSet<NodeId> roots;
    for (NodeId id : island.nodes) {
      if (!roots.insert(groups.RootOf(id)).second) continue;
      for (NodeId member : limited_[groups.RootOf(id)]) {
        if (!(groups.OwnTypes(member) & types)) island.pinned.push_back(member);
      }
    }
    llvm::sort(island.pinned);
    report_.islands.push_back(std::move(island));
  }

  void CountIslandBytes() {
    llvm::DenseMap<NodeId, Island*> island_of;
    for (Island& island : report_.islands) {
      for (NodeId id : island.nodes) island_of[id] = &island;
    }
    for (const DeviceTransfer& crossing : report_.crossings) {
      if (crossing.bytes < 0 || !crossing.is_copied) continue;
      if (Island* left = island_of.lookup(crossing.from.node)) left->bytes_out += crossing.bytes;
      // Count the bytes once for each island, even if several of its nodes read the tensor.
      llvm::SmallVector<Island*, 2> entered;
      for (const Use& use : graph_.node(crossing.from.node).UsesOf(crossing.from.index)) {
        Island* island = island_of.lookup(use.node);
        if (island && island->device == crossing.target && !llvm::is_contained(entered, island)) {
          entered.push_back(island);
          island->bytes_in += crossing.bytes;
        }
      }
    }
  }

  void CountWeights() {
    if (variables_) {
      for (auto [id, bytes] : *variables_) {
        if (int device = DeviceOf(id); device >= 0) report_.memory[device].weights += bytes;
      }
    }
    for (Node node : graph_.nodes()) {
      bool is_variable = IsVariable(node);
      if (!context_.Counts(node.id()) || (!is_variable && node.op() != "Const")) continue;
      int64_t bytes = BytesOf({node.id(), 0});
      if (is_variable) bytes = BytesOfVariable(node);
      int device = DeviceOf(node.id());
      if (!is_variable && memory_.IsOnHost({node.id(), 0})) device = memory_.HostOf(device);
      if (device < 0) continue;
      if (bytes < 0) {
        ++report_.memory[device].unknown;
      } else {
        report_.memory[device].weights += bytes;
      }
    }
  }

  // Simulates a run of the nodes in order. An output, or its copy in another device's memory, lives
  // until its last reader in that memory has run.
  void FindPeaks() {
    std::vector<NodeId> order =
        TopologicalOrder(graph_);  // without nodes on a cycle that is not a loop
    std::vector<uint32_t> place(graph_.end_id());
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<std::vector<std::pair<int, int64_t>>> ends(order.size());  // device, bytes
    std::vector<int64_t> alive(devices_.size());
    for (uint32_t now = 0; now < order.size(); ++now) {
      Node node = graph_.node(order[now]);
      bool makes_value = node.op() != "Const" && !IsVariable(node);
      if (makes_value && context_.Counts(node.id())) Start(node, now, place, &ends, &alive);
      for (auto [device, bytes] : ends[now]) alive[device] -= bytes;
    }
  }

  void Start(const Node& node, uint32_t now, const std::vector<uint32_t>& place,
             std::vector<std::vector<std::pair<int, int64_t>>>* ends, std::vector<int64_t>* alive) {
    int outputs = std::max(0, NumOutputs(node));
    for (int port = 0; port < outputs; ++port) {
      auto holder = [&](int device, bool on_host) {
        return on_host ? memory_.HostOf(device) : device;
      };
      int home = holder(DeviceOf(node.id()), memory_.IsOnHost({node.id(), port}));
      std::map<int, uint32_t> last = {{home, now}};
      for (const Use& use : node.UsesOf(port)) {
        if (!context_.Counts(use.node)) continue;
        TensorWay way = memory_.WayTo(use);
        uint32_t& at = last[holder(way.target, way.to_host)];
        at = std::max({at, now, place[use.node]});
      }
      int64_t bytes = BytesOf({node.id(), port});
      DataType type = shapes_.TypeOf({node.id(), port});
      if (bytes < 0 && home >= 0 && DataTypeSize(BaseType(type)) > 0)
        ++report_.memory[home].unknown;
      if (bytes <= 0 || IsRefType(type)) continue;
      for (auto [device, end] : last) {
        if (device < 0) continue;
        (*alive)[device] += bytes;
        report_.memory[device].peak = std::max(report_.memory[device].peak, (*alive)[device]);
        (*ends)[end].emplace_back(device, bytes);
      }
    }
  }

  const PlacementContext context_;
  const Graph& graph_;
  const DeviceSet& devices_;
  const Placement& placement_;
  const std::map<NodeId, int64_t>* variables_;
  PlacedMemory memory_;
  ShapeMap shapes_;
  // By root of a group: its members without a kernel on some device type.
  llvm::DenseMap<NodeId, std::vector<NodeId>> limited_;
  PlacementReport report_;
};

}  // namespace

int64_t TensorBytes(DataType type, const Shape& shape) {
  auto elements = shape.NumElements();
  size_t size = DataTypeSize(BaseType(type));
  if (!elements || size == 0 || *elements > (int64_t{1} << 56)) return -1;
  return *elements * static_cast<int64_t>(size);
}

int64_t BytesOfVariable(const Node& variable) {
  auto attr = variable.Attr("shape");
  auto shape = attr ? attr->AsShape() : std::nullopt;
  return shape ? TensorBytes(variable.GetType("dtype"), *shape) : -1;
}

PlacementReport MakePlacementReport(const PlacementContext& context) {
  return Reporter(context).Run();
}

}  // namespace grapnel
