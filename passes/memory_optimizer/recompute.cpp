// Recomputes values that gradients read, late, so that the first result can be freed early.
//
//   Before:  a -> Relu b -> c -> gradients/d -> gradients/e;  b -> gradients/e
//   After:   a -> Relu b -> c -> gradients/d -> gradients/e;  a -> Relu Recomputed/b -> gradients/e
//            NoOp RecomputeTrigger/b(^gradients/d);  Recomputed/b(^RecomputeTrigger/b)
//
// Connected nodes that are cheap, or marked _recompute_hint, are recomputed together. Each copy
// waits for a trigger, so that it does not run immediately; triggers follow one another in the
// order of the gradients.
//
// Refuses: nodes that are fed, or that no gradient depends on; groups of connected nodes in which
// every node that a gradient reads also reads a gradient.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/memory_optimizer/memory_optimizer.h"

namespace grapnel::memory_optimizer {
namespace {

bool IsCheap(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Add", "AddN", "BiasAdd", "Cast", "Fill", "FloorDiv", "FloorMod", true)
      .Cases("FusedBatchNorm", "LeakyRelu", "Mul", "Neg", "RealDiv", "Reciprocal", true)
      .Cases("Relu", "Relu6", "Reshape", "Rsqrt", "Sigmoid", "Sqrt", "Square", true)
      .Cases("SquaredDifference", "Sub", "Tile", "Transpose", true)
      .Default(false);
}

// Nodes to recompute together (sources), and the gradients that read them (targets), both in graph
// order.
struct Group {
  std::vector<NodeId> sources, targets;
};

class Recomputation {
 public:
  Recomputation(RuleContext& rule, const Wanted& wanted)
      : rule_(rule),
        edit_(rule.edit),
        graph_(rule.graph),
        only_hinted_(!wanted.recomputes_cheap),
        scope_(wanted.scope) {}

  void Run() {
    std::vector<NodeId> order = edit_.NodesInOrder();
    // Late nodes have low numbers.
    place_.assign(graph_.end_id(), 0);
    for (size_t i = 0; i < order.size(); ++i)
      place_[order[i]] = static_cast<int>(order.size() - i - 1);
    std::vector<Group> groups;
    llvm::DenseSet<NodeId> seen;
    for (NodeId id : order) {
      if (seen.contains(id) || !FeedsTarget(graph_.node(id))) continue;
      Group group = GroupOf(id, &seen);
      if (!group.targets.empty()) groups.push_back(std::move(group));
    }
    for (const Group& group : groups) {
      if (!rule_.stopped) Rewrite(group);
    }
  }

 private:
  bool IsTarget(const Node& node) const {
    return node.name().take_front(scope_.size()) == scope_ || node.name().contains("/" + scope_);
  }
  bool IsCandidate(const Node& node) const {
    bool is_wanted =
        node.FindAttr("_recompute_hint").has_value() || (!only_hinted_ && IsCheap(node.op()));
    return is_wanted && !IsTarget(node) && !edit_.IsFed(node);
  }
  bool FeedsTarget(const Node& node) {
    if (!IsCandidate(node)) return false;
    if (llvm::none_of(node.uses(), [&](const Use& use) { return IsTarget(graph_.node(use.node)); }))
      return false;
    for (Port port : node.inputs()) {
      if (!IsTarget(graph_.node(port.node))) continue;
      rule_.RefuseAt(node, "'{0}' reads '{1}', which is a gradient", node.name(),
                     graph_.node(port.node).name());
      return false;
    }
    return true;
  }

  // The nodes reachable from `from` over inputs, and over readers too if `both`, through nodes for
  // which `may` is true.
  llvm::DenseSet<NodeId> Connected(llvm::ArrayRef<NodeId> from, bool both,
                                   llvm::function_ref<bool(const Node&)> may) {
    llvm::DenseSet<NodeId> found;
    std::vector<NodeId> open(from.begin(), from.end());
    auto visit = [&](NodeId id) {
      if (!found.contains(id) && may(graph_.node(id))) open.push_back(id);
    };
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (!found.insert(id).second) continue;
      for (Port port : graph_.node(id).inputs()) visit(port.node);
      if (!both) continue;
      for (const Use& use : graph_.node(id).uses()) visit(use.node);
    }
    return found;
  }

  std::vector<NodeId> Sorted(const llvm::DenseSet<NodeId>& nodes) const {
    std::vector<NodeId> sorted(nodes.begin(), nodes.end());
    llvm::sort(sorted, [&](NodeId a, NodeId b) { return place_[a] > place_[b]; });
    return sorted;
  }

  Group GroupOf(NodeId root, llvm::DenseSet<NodeId>* seen) {
    llvm::DenseSet<NodeId> all =
        Connected(root, true, [&](const Node& node) { return IsCandidate(node); });
    seen->insert(all.begin(), all.end());
    llvm::DenseSet<NodeId> targets;
    std::vector<NodeId> read;
    for (NodeId id : Sorted(all)) {
      bool is_read = false;
      for (const Use& use : graph_.node(id).uses()) {
        if (!IsTarget(graph_.node(use.node))) continue;
        targets.insert(use.node);
        is_read = true;
      }
      if (is_read) read.push_back(id);
    }
    auto sources =
        Connected(read, false, [&](const Node& node) { return all.contains(node.id()); });
    return {Sorted(sources), Sorted(targets)};
  }

  // For each source, the position of the first gradient that depends on it. The copy of the source
  // must not wait for nodes after that gradient.
  llvm::DenseMap<NodeId, int> FirstUses(const Group& group) {
    llvm::DenseSet<NodeId> sources(group.sources.begin(), group.sources.end());
    llvm::DenseSet<NodeId> targets(group.targets.begin(), group.targets.end());
    llvm::DenseMap<NodeId, int> first;
    for (NodeId id : llvm::reverse(group.sources)) {
      int place = -1;
      for (const Use& use : graph_.node(id).uses()) {
        if (targets.contains(use.node)) place = std::max(place, place_[use.node]);
        if (sources.contains(use.node)) place = std::max(place, first.lookup(use.node));
      }
      first[id] = place;
    }
    return first;
  }

  void Rewrite(const Group& group) {
    llvm::DenseMap<NodeId, int> first = FirstUses(group);
    if (!rule_.BeginAt(graph_.node(group.sources.back()))) return;
    llvm::DenseMap<NodeId, Node> triggers = AddTriggers(group, first), copies;
    for (NodeId id : group.sources) copies[id] = AddCopy(graph_.node(id), triggers[id], copies);
    for (NodeId id : group.targets) {
      Node target = graph_.node(id);
      for (int i = 0; i < target.num_inputs(); ++i) {
        Port port = target.input(i);
        auto copy = copies.find(port.node);
        if (copy != copies.end() && port.index == 0)
          edit_.SetInput(target, i, {copy->second.id(), 0});
      }
    }
    rule_.End();
  }

  llvm::DenseMap<NodeId, Node> AddTriggers(const Group& group,
                                           const llvm::DenseMap<NodeId, int>& first) {
    std::vector<NodeId> sources = group.sources;
    llvm::sort(sources, [&](NodeId a, NodeId b) {
      int place_of_a = first.lookup(a), place_of_b = first.lookup(b);
      if (place_of_a != place_of_b) return place_of_a > place_of_b;
      return graph_.node(a).name() > graph_.node(b).name();
    });
    llvm::DenseSet<NodeId> own(group.sources.begin(), group.sources.end());
    std::vector<NodeId> awaited;
    for (NodeId target : group.targets) {
      for (Port port : graph_.node(target).inputs()) {
        bool is_old = port.node < place_.size();  // not a copy made for an earlier group
        if (is_old && !own.contains(port.node)) awaited.push_back(port.node);
      }
    }
    llvm::stable_sort(awaited, [&](NodeId a, NodeId b) { return place_[a] > place_[b]; });
    llvm::DenseMap<NodeId, Node> triggers;
    Node previous;
    auto next = awaited.begin();
    for (NodeId id : sources) {
      Node source = graph_.node(id);
      Node trigger =
          edit_.AddNode(("RecomputeTrigger/" + source.name()).str(), "NoOp", source.device());
      if (previous) edit_.AddControl(trigger, previous);
      for (; next != awaited.end() && place_[*next] > first.lookup(id); ++next)
        edit_.AddControl(trigger, graph_.node(*next));
      triggers[id] = previous = trigger;
    }
    return triggers;
  }

  // Copies `source`. The copy reads the copies of its inputs where those exist, which come earlier
  // in `group.sources`.
  Node AddCopy(const Node& source, const Node& trigger,
               const llvm::DenseMap<NodeId, Node>& copies) {
    Node copy = edit_.AddNode(("Recomputed/" + source.name()).str(), source.op(), source.device());
    edit_.CopyAttrs(copy, source);
    llvm::SmallVector<Port, 4> inputs = source.inputs();
    for (Port& port : inputs) {
      auto other = copies.find(port.node);
      if (other != copies.end() && port.index == 0) port.node = other->second.id();
    }
    inputs.push_back({trigger.id(), kControlPort});
    edit_.SetInputs(copy, inputs);
    return copy;
  }

  RuleContext& rule_;
  Editor& edit_;
  Graph& graph_;
  const bool only_hinted_;
  const std::string scope_;
  std::vector<int> place_;
};

Verdict Recompute(RuleContext& rule) {
  Wanted wanted = WantedOf(rule.edit.config());
  if (!wanted.recomputes_hinted) return rule.NotMine();
  Recomputation(rule, wanted).Run();
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "memory_optimizer",
     .after = kFirst,
     .name = "recompute",
     .ops = {},
     .help = "recomputes marked or cheap values shortly before the gradients that read them",
     .refuses = "nodes that are fed or that no gradient depends on; groups in which every node "
                "that a gradient reads also reads a gradient",
     .apply = Recompute});

}  // namespace
}  // namespace grapnel::memory_optimizer
