#include "lib/place/placer.h"

#include <algorithm>

#include "lib/place/failure_text.h"
#include "lib/place/op_facts.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Candidates = std::vector<int>;  // indices of devices, the preferred one first

class Placer {
 public:
  Placer(const Graph& graph, const DeviceSet& devices, const KernelCatalog& kernels,
         const PlacerOptions& options)
      : graph_(graph),
        devices_(devices),
        options_(options),
        order_(PlacementOrder(graph)),
        input_{graph, devices, kernels, options.soft, order_, options.words},
        facts_(graph.module()) {
    ranking_.resize(devices.size());
    for (int i = 0; i < devices.size(); ++i) ranking_[i] = i;
    std::stable_sort(ranking_.begin(), ranking_.end(),
                     [&](int a, int b) { return devices.IsPreferred(a, b); });
    if (options.default_device) {
      auto at = llvm::find(ranking_, *options.default_device);
      std::rotate(ranking_.begin(), at, at + 1);
    }
  }

  Placement Run() {
    result_.nodes.resize(graph_.end_id());
    result_.groups = std::make_unique<Colocation>(input_);
    result_.failure = result_.groups->failure();
    if (result_.failure) return std::move(result_);
    KeepAsked();
    std::vector<NodeId> second;
    for (NodeId id : order_) {
      if (!PlaceFirst(graph_.node(id), &second)) return std::move(result_);
    }
    for (NodeId id : second) {
      if (!PlaceSecond(graph_.node(id))) return std::move(result_);
    }
    return std::move(result_);
  }

 private:
  Colocation& groups() { return *result_.groups; }

  void KeepAsked() {
    result_.asked.resize(graph_.end_id());
    for (NodeId id : order_) {
      if (groups().RootOf(id) == id) result_.asked[id] = groups().GroupOf(id);
    }
    first_of_group_.assign(graph_.end_id(), kNoNode);
  }

  bool PlaceFirst(const Node& node, std::vector<NodeId>* second) {
    if (Colocation::IsAssigned(node)) {
      int device = *devices_.Find(groups().GroupOf(node.id()).assigned);
      Assign(node, {device, PlacementRule::kAssigned});
      return true;
    }
    const OpFacts& facts = facts_.Of(node);
    if (IsGenerator(node, facts)) {
      second->push_back(node.id());
      return true;
    }
    bool soft = false;
    const Candidates* candidates = CandidatesFor(node, &soft);
    if (!candidates) return false;
    NodePlacement beside{-1, PlacementRule::kMetadata, soft};
    if (facts.is_identity && StaysWithInput(node)) beside.rule = PlacementRule::kIdentity;
    bool is_one = facts.is_metadata || beside.rule == PlacementRule::kIdentity;
    if (is_one && node.num_inputs() > 0 &&
        PlaceBeside(node, node.input(0).node, *candidates, beside))
      return true;
    AssignFirst(node, *candidates, soft);
    return true;
  }

  // Places a node without inputs.
  bool PlaceSecond(const Node& node) {
    bool soft = false;
    const Candidates* candidates = CandidatesFor(node, &soft);
    if (!candidates) return false;
    NodePlacement beside{-1, PlacementRule::kGenerator, soft};
    if (!ReadersAgree(node) || !PlaceBeside(node, node.uses().front().node, *candidates, beside))
      AssignFirst(node, *candidates, soft);
    return true;
  }

  // Places the node on the device of `other`, if `other` is already placed and its device is a
  // candidate.
  bool PlaceBeside(const Node& node, NodeId other, const Candidates& candidates,
                   NodePlacement placement) {
    if (other == kNoNode) return false;
    placement.device = result_.nodes[other].device;
    placement.witness = other;
    if (placement.device < 0 || !llvm::is_contained(candidates, placement.device)) return false;
    Assign(node, placement);
    return true;
  }

  // True for a node without a request, with one data input, no control input and at most one
  // reader, if the node that it reads and the reader have equal requests.
  bool StaysWithInput(const Node& node) const {
    if (!node.device().empty() || node.num_inputs() != 1 || node.num_controls() > 0) return false;
    Node input = node.input_node(0);
    // A node without readers counts as read by the end of the graph, which requests nothing.
    if (!input || node.uses().size() > 1) return false;
    StringId reader =
        node.uses().empty() ? kEmptyString : RequestId(graph_.node(node.uses()[0].node));
    return RequestId(input) == reader;
  }

  // The node's request; empty for assigned arguments and results.
  static StringId RequestId(const Node& node) {
    return Colocation::IsAssigned(node) ? kEmptyString : node.device_id();
  }

  bool ReadersAgree(const Node& node) const {
    if (node.uses().empty()) return false;
    int device = result_.nodes[node.uses().front().node].device;
    return llvm::all_of(node.uses(),
                        [&](const Use& use) { return result_.nodes[use.node].device == device; });
  }

  // The possible devices for the node's group; null on failure. Sets `soft` if the device type and
  // id of the group's request had to be dropped.
  const Candidates* CandidatesFor(const Node& node, bool* soft) {
    const ColocationGroup& group = groups().GroupOf(node.id());
    const Candidates* candidates = &Matching(group.requested, group.types);
    if (candidates->empty() && options_.soft && !group.requested.IsOpen()) {
      *soft = true;
      candidates = &Softened(group);
    }
    if (!candidates->empty()) return candidates;
    result_.failure = NoDevice(groups(), input_, node);
    return nullptr;
  }

  // Returns the candidates without the device type and id of the request. Keeps a type or id that
  // nodes with resources request, unless that leaves no device.
  const Candidates& Softened(const ColocationGroup& group) {
    DeviceSpec name = group.requested;
    if (!group.assigned.type && !group.resource.type) name.type = DeviceWord();
    if (group.assigned.id < 0 && group.resource.id < 0) name.id = DeviceSpec::kOpen;
    const Candidates& kept = Matching(name, group.types);
    if (!kept.empty()) return kept;
    name = group.requested;
    if (!group.assigned.type) name.type = DeviceWord();
    if (group.assigned.id < 0) name.id = DeviceSpec::kOpen;
    return Matching(name, group.types);
  }

  const Candidates& Matching(const DeviceSpec& name, const KernelTypes& types) {
    Key key{name.job.index(), name.type.index(), name.replica,    name.task,
            name.id,          types.bits,        types.priorities};
    auto [entry, is_new] = cache_.try_emplace(key);
    if (!is_new) return entry->second;
    Candidates& candidates = entry->second;
    for (int device : ranking_) {
      if (name.Matches(devices_.device(device).name) && types.Has(devices_.TypeOf(device)))
        candidates.push_back(device);
    }
    // The default device, if it is a candidate, precedes devices with kernels of higher priority.
    bool has_default = !candidates.empty() && candidates.front() == options_.default_device;
    std::stable_sort(
        candidates.begin() + (has_default ? 1 : 0), candidates.end(), [&](int a, int b) {
          return types.PriorityOf(devices_.TypeOf(a)) > types.PriorityOf(devices_.TypeOf(b));
        });
    return candidates;
  }

  void AssignFirst(const Node& node, const Candidates& candidates, bool soft) {
    int device = candidates.front();
    NodeId first = first_of_group_[groups().RootOf(node.id())];
    NodePlacement placement{device, PlacementRule::kFirst, soft};
    if (first != kNoNode) {
      placement.rule = PlacementRule::kGroup;
      placement.witness = first;
      placement.was_softened = result_.nodes[first].was_softened;
    } else if (options_.default_device == device && candidates.size() > 1) {
      placement.rule = PlacementRule::kDefault;
    }
    Assign(node, placement);
  }

  void Assign(const Node& node, const NodePlacement& placement) {
    result_.nodes[node.id()] = placement;
    result_.order.push_back(node.id());
    NodeId root = groups().RootOf(node.id());
    if (first_of_group_[root] == kNoNode) first_of_group_[root] = node.id();
    ColocationGroup& group = groups().GroupOf(node.id());
    const DeviceSpec& name = devices_.device(placement.device).name;
    group.assigned = name;
    group.resource.Override(name);
    group.requested.Override(name);
  }

  using Key = std::tuple<uint32_t, uint32_t, int, int, int, uint32_t, std::vector<int>>;

  const Graph& graph_;
  const DeviceSet& devices_;
  const PlacerOptions& options_;
  std::vector<NodeId> order_;
  ColocationInput input_;
  OpFactsTable facts_;
  std::vector<int> ranking_;  // indices of devices, the preferred one first
  std::map<Key, Candidates> cache_;
  std::vector<NodeId> first_of_group_;  // by root of the group
  Placement result_;
};

}  // namespace

std::vector<NodeId> PlacementOrder(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) order.push_back(node.id());
  return order;
}

Placement Place(const Graph& graph, const DeviceSet& devices, const KernelCatalog& kernels,
                const PlacerOptions& options) {
  return Placer(graph, devices, kernels, options).Run();
}

const char* RuleText(PlacementRule rule) {
  switch (rule) {
    case PlacementRule::kNone:
      return "not placed";
    case PlacementRule::kAssigned:
      return "placed by the caller";
    case PlacementRule::kIdentity:
      return "with its input";
    case PlacementRule::kMetadata:
      return "with the input whose shape it reads";
    case PlacementRule::kGenerator:
      return "with its readers";
    case PlacementRule::kGroup:
      return "with its group";
    case PlacementRule::kDefault:
      return "default device";
    case PlacementRule::kFirst:
      return "first possible device";
  }
  return "";
}

}  // namespace grapnel
