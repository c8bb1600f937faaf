// Drops control edges that a longer path implies.
//
//   Before:  x -> n1 -> n2,  x -^> n2        After:  x -> n1 -> n2
//
// Refuses: edges to or from Enter, Exit and NextIteration, edges from a Merge, and edges to ops
// that TensorFlow does not know. Paths do not use such edges either.
//
// Cost: about 64 steps for each node and edge at most, plus a constant; if more would be needed,
// edges are left.
#include "lib/pass/node_order.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

class Reduction {
 public:
  explicit Reduction(Dependencies& rule) : rule_(rule), graph_(rule.graph), kinds_(rule.kinds) {}

  void Run() {
    order_ = GrapplerOrder(graph_);
    position_.assign(graph_.end_id(), 0);
    mark_.assign(graph_.end_id(), 0);
    for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
    CountControls();
    // One sweep handles many control edges of a node at once. Each edge is handled at the end that
    // has more control edges, so that both a node that all others wait for and a node that waits
    // for all others take only one sweep.
    budget_ = 64 * (edges_ + order_.size()) + 100000;
    for (NodeId id : order_) {
      SweepFrom(id);
      SweepTo(id);
    }
    Drop();
  }

 private:
  // True if the edge means that `to` runs after `from`, so that paths may contain the edge.
  bool Counts(const Node& from, const Node& to) {
    return !kinds_.Is(to, kFrameOp) && kinds_.Is(to, kKnownOp) &&
           !kinds_.Is(from, kFrameOp | kMergeOp);
  }

  void CountControls() {
    controls_out_.assign(graph_.end_id(), 0);
    for (NodeId id : order_) {
      Node node = graph_.node(id);
      edges_ += node.num_inputs() + node.num_controls();
      for (int i = 0; i < node.num_controls(); ++i) ++controls_out_[node.control(i).id()];
    }
  }

  bool IsAskedAtSource(const Node& from, const Node& to) const {
    return controls_out_[from.id()] >= static_cast<uint32_t>(to.num_controls());
  }

  // Finds the control edges from `source` that a longer path implies: marks the nodes two or more
  // edges after `source`, up to the last node that these control edges lead to.
  void SweepFrom(NodeId id) {
    Node source = graph_.node(id);
    if (controls_out_[id] == 0) return;
    targets_.clear();
    uint32_t last = 0;
    for (const Use& use : source.uses()) {
      Node reader = graph_.node(use.node);
      if (!reader.input(use.slot).IsControl() || !Counts(source, reader) ||
          !IsAskedAtSource(source, reader))
        continue;
      targets_.push_back(use.node);
      last = std::max(last, position_[use.node]);
    }
    // If `source` has only one reader, no longer path leads from `source` to it.
    if (targets_.empty() || source.uses().size() == 1) return;
    ++epoch_;
    open_.clear();
    for (const Use& use : source.uses()) {
      if (position_[use.node] < last && Counts(source, graph_.node(use.node)))
        open_.push_back(use.node);
    }
    while (!open_.empty() && budget_ > 0) {
      Node node = graph_.node(open_.back());
      open_.pop_back();
      budget_ -= 1 + node.uses().size();
      for (const Use& use : node.uses()) {
        if (position_[use.node] > last || mark_[use.node] == epoch_ ||
            !Counts(node, graph_.node(use.node)))
          continue;
        mark_[use.node] = epoch_;
        open_.push_back(use.node);
      }
    }
    for (NodeId target : targets_) {
      if (mark_[target] == epoch_) implied_.emplace_back(position_[target], id);
    }
  }

  // As SweepFrom, for the control edges to the node, walking its inputs.
  void SweepTo(NodeId id) {
    Node target = graph_.node(id);
    if (target.num_controls() == 0 || target.num_controls() + target.num_inputs() < 2) return;
    sources_.clear();
    uint32_t first = ~0u;
    for (int i = 0; i < target.num_controls(); ++i) {
      Node source = target.control(i);
      if (!Counts(source, target) || IsAskedAtSource(source, target)) continue;
      sources_.push_back(source.id());
      first = std::min(first, position_[source.id()]);
    }
    if (sources_.empty()) return;
    ++epoch_;
    open_.clear();
    for (Port port : target.inputs()) {
      if (port.node != kNoNode && position_[port.node] > first &&
          Counts(graph_.node(port.node), target))
        open_.push_back(port.node);
    }
    while (!open_.empty() && budget_ > 0) {
      Node node = graph_.node(open_.back());
      open_.pop_back();
      int slots = node.num_inputs() + node.num_controls();
      budget_ -= 1 + slots;
      for (int slot = 0; slot < slots; ++slot) {
        NodeId source = node.input(slot).node;
        if (source == kNoNode || position_[source] < first || mark_[source] == epoch_) continue;
        if (!Counts(graph_.node(source), node)) continue;
        mark_[source] = epoch_;
        open_.push_back(source);
      }
    }
    for (NodeId source : sources_) {
      if (mark_[source] == epoch_) implied_.emplace_back(position_[id], source);
    }
  }

  // Makes one rewrite for each node that loses control inputs. All implied edges can be dropped at
  // once, because the longest path between two nodes contains none of them.
  void Drop() {
    llvm::sort(implied_);
    for (size_t i = 0; i < implied_.size();) {
      Node target = graph_.node(order_[implied_[i].first]);
      size_t end = i;
      while (end < implied_.size() && implied_[end].first == implied_[i].first) ++end;
      auto is_implied = [&](NodeId source) {
        return std::binary_search(implied_.begin() + i, implied_.begin() + end,
                                  std::pair(implied_[i].first, source));
      };
      llvm::SmallVector<Port, 8> kept;
      for (Port port : target.inputs()) {
        if (!port.IsControl() || !is_implied(port.node)) kept.push_back(port);
      }
      if (!rule_.BeginAt(target)) return;
      rule_.edit.SetInputs(target, kept);
      rule_.End();
      i = end;
    }
  }

  Dependencies& rule_;
  Graph& graph_;
  OpKinds& kinds_;
  std::vector<NodeId> order_;
  std::vector<uint32_t> position_, mark_, controls_out_;
  std::vector<NodeId> targets_, sources_, open_;
  std::vector<std::pair<uint32_t, NodeId>> implied_;  // position of the reader, source
  uint32_t epoch_ = 0;
  int64_t edges_ = 0, budget_ = 0;
};

Verdict DropImpliedControls(Dependencies& rule) {
  bool any = false;
  for (Node node : rule.graph.nodes()) any = any || node.num_controls() > 0;
  if (!any) return rule.Done();
  Reduction(rule).Run();
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "dependency_optimizer",
     .phase = kDuplicateEdges,
     .after = "dedup_control_inputs",
     .name = "drop_implied_control",
     .ops = {},
     .help = "drops a control edge between nodes that a longer path joins",
     .refuses =
         "edges to and from Enter, Exit and NextIteration, edges from a Merge, and edges to ops "
         "that TensorFlow does not know; in large graphs, edges that would take too long to check",
     .apply = DropImpliedControls});

}  // namespace
}  // namespace grapnel
