// Routes control edges from several nodes of another device, then of another task, through one NoOp
// there: one message instead of many.
//
//   Before:  a @cpu:1, b @cpu:1 -^> f @cpu:0
//   After:   a, b -^> GroupCrossDeviceControlEdges_0/f = NoOp @cpu:1 -^> f @cpu:0
//
// Refuses: nodes without a device; the only edge from another device of the same task, or from
// another task.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

// The device of the node or, if `by_host`, the task of that device; the device string itself if it
// is not a device name.
std::string PlaceOf(const Node& node, bool by_host) {
  std::string device = node.device().str();
  return by_host ? TaskOf(device).value_or(device) : device;
}

using NodesByPlace = std::map<std::string, std::vector<Node>>;

// Sources of control edges to `node` on other devices or, if `by_host`, in other tasks.
NodesByPlace SourcesElsewhere(const Node& node, bool by_host) {
  NodesByPlace sources;
  std::string here = PlaceOf(node, by_host);
  for (int i = 0; i < node.num_controls(); ++i) {
    Node source = node.control(i);
    std::string there = PlaceOf(source, by_host);
    if (!source.device().empty() && there != here) sources[there].push_back(source);
  }
  return sources;
}

std::string GroupName(const Node& node, int* number) {
  std::string name;
  do {
    name = llvm::formatv("GroupCrossDeviceControlEdges_{0}/{1}", (*number)++, node.name()).str();
  } while (node.graph().Find(name));
  return name;
}

void MakeGroups(Editor& edit, const Node& node, const NodesByPlace& sources, bool by_host) {
  llvm::SmallVector<Port, 8> inputs;
  std::map<std::string, Node> groups;
  // Places are numbered in the order in which their second node is found.
  std::map<std::string, int> met;
  int number = 0;
  for (Port port : node.inputs()) {
    Node source = edit.graph().node(port.node);
    auto found = port.IsControl() ? sources.find(PlaceOf(source, by_host)) : sources.end();
    if (found == sources.end() || found->second.size() < 2) {
      inputs.push_back(port);
    } else if (++met[found->first] == 2) {
      groups[found->first] = edit.AddNode(GroupName(node, &number), "NoOp", source.device());
    }
  }
  for (const auto& [place, group] : groups) {
    std::vector<Port> controls;
    for (const Node& source : sources.find(place)->second) {
      controls.push_back({source.id(), kControlPort});
    }
    edit.SetInputs(group, controls);
    inputs.push_back({group.id(), kControlPort});
  }
  edit.SetInputs(node, inputs);
}

bool MayBeGrouped(const Node& node) { return node.num_controls() > 1 && !node.device().empty(); }

// Groups edges by device first, then by task.
Verdict GroupCrossDeviceControls(Dependencies& rule) {
  bool any = false;
  for (Node node : rule.graph.nodes()) any = any || MayBeGrouped(node);
  if (!any) return rule.Done();
  for (bool by_host : {false, true}) {
    for (NodeId id : rule.edit.NodesInOrder()) {
      Node node = rule.graph.node(id);
      if (!MayBeGrouped(node)) continue;
      NodesByPlace sources = SourcesElsewhere(node, by_host);
      if (llvm::none_of(sources, [](const auto& entry) { return entry.second.size() > 1; }))
        continue;
      if (!rule.BeginAt(node)) return rule.Done();
      MakeGroups(rule.edit, node, sources, by_host);
      rule.End();
    }
  }
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "dependency_optimizer",
     .phase = kAfterwards,
     .after = kFirst,
     .name = "group_cross_device_controls",
     .ops = {},
     .help = "control edges from several nodes of another device, then of another task, go through "
             "one NoOp there",
     .refuses = "nodes without a device; the only edge from another device of the same task, or "
                "from another task",
     .apply = GroupCrossDeviceControls});

}  // namespace
}  // namespace grapnel
