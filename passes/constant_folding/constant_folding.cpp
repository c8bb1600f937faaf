// Computes nodes that depend on no input, and simplifies nodes with the help of constants and known
// shapes.
//
//   Before:  Reshape(x:[2,3], Shape(x)) * (1 + 1) -> y
//   After:   x * 2 -> y
//
// Each round writes known shapes as constants, then fills, axes and shapes built from known ones;
// computes nodes with only constant inputs; drops unread nodes; and simplifies the others node by
// node. Rounds after the first visit only changed nodes and their neighborhood. They end as
// Grappler's do, at the latest after a round that simplified nothing and did not change the number
// of nodes, though it may have folded some and dropped as many.
#include "lib/pass/node_order.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The rounds over one body. Nodes are visited in Grappler's order, which each round changes: the
// order decides which of two constants moves first.
class Rounds {
 public:
  explicit Rounds(Editor& edit)
      : edit_(edit),
        graph_(edit.graph()),
        fold_(edit),
        shapes_(edit, Folding::kOptimizer, kShapes),
        values_(edit, Folding::kOptimizer, kValues),
        folds_(edit, Folding::kOptimizer, kFold),
        drop_unread_(edit, Folding::kOptimizer, kDropUnread),
        simplify_(edit, Folding::kOptimizer, kSimplify) {}

  void Run() {
    edit_.TakeTouched();
    edit_.FixShapes();
    order_ = RankedNodes(graph_, edit_.ranks());
    known_ = graph_.end_id();
    todo_.resize(graph_.end_id(), true);
    size_t nodes = 0;
    simplified_ = true;
    while ((simplified_ || nodes != graph_.num_nodes()) && todo_.any() && !fold_.stopped) {
      simplified_ = false;
      nodes = graph_.num_nodes();
      next_.clear();
      next_.resize(graph_.end_id());
      spread_ = next_;
      Show(shapes_);
      Show(values_);
      Fold();
      simplified_ = Show(simplify_);
      std::swap(todo_, next_);
    }
    edit_.SetOrder(order_);
    edit_.FollowShapes();
  }

 private:
  // Visits the nodes of this round. Nodes that are made meanwhile wait for the next phase, as in
  // Grappler.
  template <typename Visit>
  void ForEachTodo(Visit visit) {
    for (Node node : graph_.nodes(order_)) {
      if (fold_.stopped) return;
      if (todo_.test(node.id()) && graph_.IsAlive(node.id())) visit(node);
    }
  }

  // Returns the nodes made since the last call.
  std::vector<NodeId> TakeMade() {
    std::vector<NodeId> made;
    for (; known_ < graph_.end_id(); ++known_) made.push_back(known_);
    return made;
  }

  // Applies the rules to the nodes of this round. True if any rule fired.
  bool Show(const RuleTable& rules) {
    bool fired = false;
    ForEachTodo([&](Node node) {
      if (!rules.Has(node)) return;
      if (fold_.too_large.contains(node.id()) || fold_.HasTpuAttribute(node)) return;
      if (!ApplyRules(fold_, rules, node)) return;
      fired = true;
      Spread();
    });
    llvm::append_range(order_, TakeMade());
    return fired;
  }

  // Folds, then drops unread nodes. The new constants precede all other nodes, as in Grappler.
  void Fold() {
    FoldAndFollow();
    DropUnread();
    std::vector<NodeId> folded = TakeMade();
    EraseDeadNodes(graph_, &folded);
    for (NodeId id : order_) {
      if (graph_.IsAlive(id)) folded.push_back(id);
    }
    order_ = std::move(folded);
  }

  // Folds all nodes that can be computed, and then those of their readers that now can be computed
  // too.
  void FoldAndFollow() {
    auto is_foldable = [&](Node node) { return folds_.Has(node) && IsFoldable(fold_, node); };
    std::vector<NodeId> queue;
    ForEachTodo([&](Node node) {
      if (is_foldable(node)) queue.push_back(node.id());
    });
    for (size_t i = 0; i < queue.size() && !fold_.stopped; ++i) {
      if (!graph_.IsAlive(queue[i])) continue;
      Node node = graph_.node(queue[i]);
      if (fold_.IsConst(node)) continue;
      llvm::SmallVector<NodeId, 8> readers;
      for (const Use& use : node.uses()) readers.push_back(use.node);
      llvm::sort(readers);
      if (!ApplyRules(fold_, folds_, node)) continue;
      Spread();
      for (NodeId reader : readers) {
        if (graph_.IsAlive(reader) && is_foldable(graph_.node(reader))) queue.push_back(reader);
      }
    }
  }

  // Drops unread nodes. A node that becomes unread here, because its readers are dropped, stays
  // until the next round, as in Grappler.
  void DropUnread() {
    std::vector<NodeId> unread;
    auto look = [&](Node node) {
      if (IsUnread(fold_, node)) unread.push_back(node.id());
    };
    ForEachTodo(look);
    for (NodeId id = known_; id < graph_.end_id(); ++id) {
      if (graph_.IsAlive(id)) look(graph_.node(id));
    }
    for (NodeId id : unread) ApplyRules(fold_, drop_unread_, graph_.node(id));
    Spread();
  }

  // Marks the nodes that a rewrite touched, for this round and the next, and also their inputs,
  // their readers and the readers of these, because rules look as far as that.
  void Spread() {
    todo_.resize(graph_.end_id());
    next_.resize(graph_.end_id());
    spread_.resize(graph_.end_id());
    for (NodeId id : edit_.TakeTouched()) {
      if (!graph_.IsAlive(id) || spread_.test(id)) continue;
      spread_.set(id);
      Node node = graph_.node(id);
      Mark(id);
      for (Port port : node.inputs()) Mark(port.node);
      for (const Use& use : node.uses()) {
        Mark(use.node);
        for (const Use& further : graph_.node(use.node).uses()) Mark(further.node);
      }
    }
  }
  void Mark(NodeId id) {
    if (id == kNoNode) return;
    todo_.set(id);
    next_.set(id);
  }

  Editor& edit_;
  Graph& graph_;
  // the order of the nodes; nodes that died since the last Fold() are still in it
  std::vector<NodeId> order_;
  NodeId known_ = 0;  // the first node that is not yet in order_
  Folding fold_;
  const RuleTable shapes_, values_, folds_, drop_unread_, simplify_;  // one per phase
  llvm::BitVector todo_, next_;  // nodes to visit in this round, and in the next
  bool simplified_ = false;      // in this round
  llvm::BitVector spread_;       // nodes whose neighbors were marked in this round
};

class ConstantFolding : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    // If `optimizers` names the pass, TensorFlow creates it without the toggle's level
    // (AGGRESSIVE).
    const proto::RewriterConfig& config = edit.config();
    edit.TrustFeeds(config.optimizers().empty() &&
                    config.constant_folding() == proto::RewriterConfig::AGGRESSIVE);
    Rounds(edit).Run();
    return Error::success();
  }
};

GRAPNEL_PASS(ConstantFolding,
             (PassInfo{
                 .name = "constant_folding",
                 .config_name = "constfold",
                 .order = 7,
                 .default_on = true,
                 .toggle = "constant_folding",
                 .help = "computes nodes that do not depend on inputs, and simplifies nodes "
                         "with the help of constants and known shapes",
                 .refuses = "state and effects, calls of functions, strings, results over 100 KiB "
                            "that are larger than their inputs, floating point times 0"}), );

}  // namespace
}  // namespace grapnel::constant_folding
