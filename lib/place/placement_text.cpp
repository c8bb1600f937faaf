#include "lib/place/placement_text.h"

#include <algorithm>
#include <map>

#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::string ShortName(const DeviceSet& devices, int device) {
  const DeviceSpec &name = devices.device(device).name, &first = devices.device(0).name;
  bool one_task = llvm::all_of(devices.devices(), [&](const ListedDevice& each) {
    return each.name.job == first.job && each.name.replica == first.replica &&
           each.name.task == first.task;
  });
  if (!one_task) return devices.device(device).text;
  return (name.type.text() + ":").str() + std::to_string(name.id);
}

namespace {

constexpr size_t kMostRows = 12;  // rows of a table that would grow with the graph
constexpr size_t kMostNames = 4;

using Rows = std::vector<std::vector<std::string>>;

std::string BytesText(int64_t bytes) { return bytes < 0 ? "?" : HumanBytes(bytes); }

std::string More(size_t all, size_t shown) {
  return all > shown ? "  ... and " + WithCommas(all - shown) + " more\n" : "";
}

std::string ReasonOf(const NodePlacement& placed) {
  std::string rule = RuleText(placed.rule);
  return placed.was_softened ? rule + ", request given up" : rule;
}

Rows RowsByDevice(const PlacementContext& c, const char* title) {
  Rows rows = {{title}};
  for (int i = 0; i < c.devices.size(); ++i) rows[0].push_back(ShortName(c.devices, i));
  return rows;
}

std::string ReasonTable(const PlacementContext& c) {
  std::map<std::string, std::vector<int64_t>> reasons;
  for (NodeId id : c.placement.order) {
    if (!c.Counts(id)) continue;
    const NodePlacement& placed = c.placement.Of(id);
    std::vector<int64_t>& counts = reasons[ReasonOf(placed)];
    counts.resize(c.devices.size());
    ++counts[placed.device];
  }
  Rows rows = RowsByDevice(c, "reason");
  for (const auto& [reason, counts] : reasons) {
    rows.push_back({reason});
    for (int64_t count : counts) rows.back().push_back(WithCommas(count));
  }
  return "\nnodes by reason and device (--explain NODE tells of one)\n" + Table(rows, "  ");
}

std::string ScopeTable(const PlacementContext& c, const PlacementReport& report) {
  Rows rows = RowsByDevice(c, "scope");
  std::vector<int64_t> total(c.devices.size());
  for (const auto& [scope, counts] : report.scopes) {
    rows.push_back({scope.empty() ? "(none)" : scope});
    for (size_t i = 0; i < counts.size(); ++i) {
      rows.back().push_back(WithCommas(counts[i]));
      total[i] += counts[i];
    }
  }
  rows.push_back({"all"});
  for (int64_t count : total) rows.back().push_back(WithCommas(count));
  return "nodes by scope and device\n" + Table(rows, "  ");
}

// "GPU:0", or "GPU:0, host" for values that the device keeps in the host's memory.
std::string MemoryName(const PlacementContext& c, int device, bool on_host) {
  bool is_cpu = c.devices.device(device).name.type.text() == "CPU";
  return ShortName(c.devices, device) + (on_host && !is_cpu ? ", host" : "");
}

std::string CrossingTable(const PlacementContext& c, const PlacementReport& report) {
  if (report.crossings.empty()) return "\nnothing crosses between devices\n";
  struct Sum {
    int64_t tensors = 0, bytes = 0, unknown = 0;
    bool is_copied = true;
  };
  std::map<std::tuple<int, bool, int, bool>, Sum> sums;
  for (const DeviceTransfer& crossing : report.crossings) {
    Sum& sum = sums[{crossing.source, crossing.from_host, crossing.target, crossing.to_host}];
    sum.is_copied = crossing.is_copied;
    ++sum.tensors;
    if (crossing.bytes < 0) {
      ++sum.unknown;
    } else {
      sum.bytes += crossing.bytes;
    }
  }
  Rows rows = {{"from", "to", "tensors", "bytes", "of unknown size"}};
  for (const auto& [way, sum] : sums) {
    auto [source, from_host, target, to_host] = way;
    rows.push_back({MemoryName(c, source, from_host), MemoryName(c, target, to_host),
                    WithCommas(sum.tensors), HumanBytes(sum.bytes), WithCommas(sum.unknown)});
    if (!sum.is_copied) rows.back()[3] += ", not copied";
  }
  std::string text = "\ntensors that cross, each once per device\n" + Table(rows, "  ");
  std::vector<DeviceTransfer> largest;
  llvm::copy_if(report.crossings, std::back_inserter(largest),
                [](const DeviceTransfer& crossing) { return crossing.is_copied; });
  if (largest.empty()) return text;
  llvm::stable_sort(
      largest, [](const DeviceTransfer& a, const DeviceTransfer& b) { return a.bytes > b.bytes; });
  rows = {{"bytes", "tensor", "first reader", "from", "to"}};
  for (const DeviceTransfer& crossing : llvm::ArrayRef(largest).take_front(kMostRows)) {
    rows.push_back({BytesText(crossing.bytes),
                    OutputName(c.graph.node(crossing.from.node).name(), crossing.from.index),
                    c.graph.node(crossing.reader).name().str(),
                    MemoryName(c, crossing.source, crossing.from_host),
                    MemoryName(c, crossing.target, crossing.to_host)});
  }
  return text + "\nlargest of those that are copied\n" + Table(rows, "  ") +
         More(largest.size(), rows.size() - 1);
}

std::string IslandTable(const PlacementContext& c, const PlacementReport& report) {
  if (report.islands.empty()) return "";
  Rows rows = {{"nodes", "in", "out", "on", "because of", "names"}};
  for (const Island& island : llvm::ArrayRef(report.islands).take_front(kMostRows)) {
    std::string names;
    for (size_t i = 0; i < std::min(kMostNames, island.nodes.size()); ++i)
      names += (i ? ", " : "") + c.graph.node(island.nodes[i]).name().str();
    if (island.nodes.size() > kMostNames) names += ", ...";
    std::string reason = "requests";
    if (!island.pinned.empty()) {
      Node node = c.graph.node(island.pinned.front());
      reason = ("'" + node.name() + "': no kernel elsewhere for " + node.op()).str();
      if (island.pinned.size() > 1)
        reason += ", and " + WithCommas(island.pinned.size() - 1) + " more";
    }
    rows.push_back({WithCommas(island.nodes.size()), HumanBytes(island.bytes_in),
                    HumanBytes(island.bytes_out), ShortName(c.devices, island.device), reason,
                    names});
  }
  return "\nCPU islands: what passes through is copied to the host and back\n" + Table(rows, "  ") +
         More(report.islands.size(), rows.size() - 1);
}

std::string MemoryTable(const PlacementContext& c, const PlacementReport& report) {
  Rows rows = {
      {"device", "weights", "peak of the rest", "together", "its size", "of unknown size"}};
  std::string warnings;
  for (int i = 0; i < c.devices.size(); ++i) {
    const DeviceMemory& memory = report.memory[i];
    int64_t sum = memory.weights + memory.peak, size = c.devices.device(i).memory;
    rows.push_back({ShortName(c.devices, i), HumanBytes(memory.weights), HumanBytes(memory.peak),
                    HumanBytes(sum), size > 0 ? HumanBytes(size) : "not given",
                    WithCommas(memory.unknown)});
    if (size > 0 && sum > size) {
      warnings +=
          "  " + ShortName(c.devices, i) + " is too small by " + HumanBytes(sum - size) + "\n";
    }
  }
  return "\nmemory, nodes run one after the other\n" + Table(rows, "  ") + warnings;
}

}  // namespace

std::string PlacementTables(const PlacementContext& context, const PlacementReport& report) {
  return ScopeTable(context, report) + ReasonTable(context) + CrossingTable(context, report) +
         IslandTable(context, report) + MemoryTable(context, report);
}

std::string NodeTable(const PlacementContext& c, llvm::ArrayRef<std::string> logged) {
  Rows rows = {{"node", "op", "requested", "assigned", "rule"}};
  if (!logged.empty()) rows[0].push_back("logged");
  for (NodeId id : c.placement.order) {
    Node node = c.graph.node(id);
    const NodePlacement& placed = c.placement.Of(id);
    rows.push_back({node.name().str(), node.op().str(),
                    node.device().empty() ? "-" : node.device().str(),
                    ShortName(c.devices, placed.device), ReasonOf(placed)});
    if (!logged.empty()) rows.back().push_back(logged[id].empty() ? "-" : logged[id]);
  }
  return Table(rows);
}

std::string MovesText(const PlacementContext& a, const std::string& a_title,
                      const PlacementContext& b, const std::string& b_title) {
  std::string text;
  for (const auto& [c, title] : {std::pair(&a, &a_title), std::pair(&b, &b_title)}) {
    if (c->placement.failure)
      text += "with " + *title + " it cannot be placed: " + c->placement.failure->message + "\n";
  }
  if (!text.empty()) return text;
  std::map<std::pair<std::string, std::string>, std::vector<NodeId>> moves;
  size_t moved = 0;
  for (NodeId id : a.placement.order) {
    const std::string& from = a.devices.device(a.placement.Of(id).device).text;
    const std::string& to = b.devices.device(b.placement.Of(id).device).text;
    if (from == to) continue;
    moves[{from, to}].push_back(id);
    ++moved;
  }
  text = "from " + a_title + " to " + b_title + ": " + Plural(moved, "node") + " of " +
         WithCommas(a.graph.num_nodes()) + (moved == 1 ? " moves\n" : " move\n");
  Rows rows = {{"nodes", "from", "to", "names"}};
  for (const auto& [way, ids] : moves) {
    std::string names;
    for (size_t i = 0; i < std::min(kMostNames, ids.size()); ++i)
      names += (i ? ", " : "") + a.graph.node(ids[i]).name().str();
    if (ids.size() > kMostNames) names += ", ...";
    rows.push_back({WithCommas(ids.size()), way.first, way.second, names});
  }
  return moves.empty() ? text : text + Table(rows, "  ");
}

}  // namespace grapnel
