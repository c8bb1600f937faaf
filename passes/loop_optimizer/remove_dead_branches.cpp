// Removes the nodes on the dead side of a Switch whose predicate is known.
//
//   Before:  true, x -> Switch -> :0 -> Exp \             After:  x, ^true -> Identity -> Sin
//                              \> :1 -> Sin -> Merge -> y               -> Identity -> y
//
// A predicate is known if it is a constant, or if it is the condition of a loop that compares a
// constant initial value with another constant, and is false in the first iteration. A Merge that
// loses one side becomes an Identity; one that loses both is removed. All Switches are one rewrite,
// because a node may be dead only through several of them together.
//
// Refuses: Switches that are fetched, fed or kept; dead sides with a node that must stay, a
// ControlTrigger, a Merge of more than two inputs, or a Merge whose branch index is read. Refuses
// all Switches, as TensorFlow does, if a Merge on the edge of a dead side waits for a node that it
// does not read.
#include <map>
#include <set>

#include "lib/pass/rule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// The result of the op for two real numbers of one dtype; nullopt for other operands and for ops
// other than these comparisons.
std::optional<bool> Compare(llvm::StringRef op, const Literal& a, const Literal& b) {
  if (a.num_elements() != 1 || b.num_elements() != 1 || a.dtype() != b.dtype()) return std::nullopt;
  if (!IsInteger(a.dtype()) && !IsFloating(a.dtype())) return std::nullopt;
  auto compare = [&](auto x, auto y) {
    return llvm::StringSwitch<std::optional<bool>>(op)
        .Case("Less", x < y)
        .Case("LessEqual", x <= y)
        .Case("Greater", x > y)
        .Case("GreaterEqual", x >= y)
        .Case("Equal", x == y)
        .Default(std::nullopt);
  };
  return IsInteger(a.dtype()) ? compare(a.AsInt(0), b.AsInt(0))
                              : compare(a.AsDouble(0), b.AsDouble(0));
}

class DeadBranches {
 public:
  explicit DeadBranches(RuleContext& rule)
      : rule_(rule), edit_(rule.edit), graph_(rule.graph), kinds_(rule.kinds) {}

  void Run() {
    std::vector<NodeId> switches;
    for (Node node : graph_.nodes()) {
      if (node.op() == "Switch" || node.op() == "RefSwitch") switches.push_back(node.id());
    }
    if (!edit_.ranks().empty()) {
      llvm::stable_sort(switches, [&](NodeId a, NodeId b) { return RankOf(a) < RankOf(b); });
    }
    for (NodeId id : switches) Look(graph_.node(id));
    if (!decided_.empty() && MergesWaitForNothing()) Apply();
  }

 private:
  struct Dead {
    llvm::SetVector<NodeId> nodes;
    std::map<NodeId, std::set<uint32_t>> merges;  // by Merge: its dead inputs
  };
  struct Decided {
    NodeId node;
    int32_t dead_port;
    bool is_constant;  // the predicate; the Switch then becomes an Identity
  };

  uint32_t RankOf(NodeId id) const { return id < edit_.ranks().size() ? edit_.ranks()[id] : ~0u; }

  bool MustStay(const Node& node) {
    return edit_.IsPreserved(node) ||
           (edit_.boundary().keep_stateful && kinds_.Is(node, kStatefulOp));
  }

  void Look(const Node& node) {
    if (MustStay(node) || node.num_inputs() != 2) return;
    std::optional<Decided> decided = Decide(node);
    if (!decided) return;
    Dead dead = dead_;
    if (!Spread(node, decided->dead_port, &dead)) return;
    dead_ = std::move(dead);
    decided_.push_back(*decided);
  }

  // The dead side of the Switch, if its predicate is known.
  std::optional<Decided> Decide(const Node& node) {
    Node predicate = node.input_node(1);
    if (predicate.op() == "Const" && edit_.IsConstant(predicate)) {
      const Literal* value = edit_.ConstantOf(predicate);
      if (!value || value->num_elements() != 1) return std::nullopt;
      return Decided{node.id(), value->AsInt(0) ? 0 : 1, true};
    }
    if (!kinds_.Is(node.input_node(0), kMergeOp) || predicate.op() != "LoopCond")
      return std::nullopt;
    return NeverRuns(predicate.input_node(0)) ? std::optional(Decided{node.id(), 1, false})
                                              : std::nullopt;
  }

  // True if the condition of a loop is false from the start.
  bool NeverRuns(const Node& condition) {
    const Literal *sides[2] = {nullptr, nullptr}, *start = nullptr;
    int start_side = -1;
    if (!condition || condition.num_inputs() != 2) return false;
    for (int i = 0; i < 2; ++i) {
      Node input = condition.input_node(i);
      if (kinds_.Is(input, kMergeOp)) {
        start = StartOf(input);
        start_side = i;
      } else if (input.op() == "Const") {
        sides[i] = edit_.ConstantOf(input);
      }
    }
    if (start_side < 0 || !start || !sides[1 - start_side]) return false;
    sides[start_side] = start;
    return Compare(condition.op(), *sides[0], *sides[1]) == std::optional(false);
  }

  // The constant that the Merge of a loop gets when the loop is entered, or null.
  const Literal* StartOf(const Node& merge) {
    Node enter, constant;
    for (int i = 0; i < merge.num_inputs(); ++i) {
      Node input = merge.input_node(i);
      if (input.op() == "Enter" || input.op() == "RefEnter") enter = input;
      if (input.op() == "Const") constant = input;
    }
    if (enter && constant) return nullptr;
    if (enter) constant = enter.input_node(0);
    return constant && constant.op() == "Const" ? edit_.ConstantOf(constant) : nullptr;
  }

  // Adds to `dead` the nodes that never run because output `port` of `node` is dead; false if one
  // of them must stay.
  bool Spread(const Node& node, int32_t port, Dead* dead) {
    std::vector<Use> open;
    for (const Use& use : node.UsesOf(port)) open.push_back(use);
    while (!open.empty()) {
      Use use = open.back();
      open.pop_back();
      Node reader = graph_.node(use.node);
      if (dead->nodes.contains(use.node)) continue;
      bool is_merge = kinds_.Is(reader, kMergeOp);
      bool is_choice_read = is_merge && !reader.UsesOf(1).empty();
      if (MustStay(reader) || reader.op() == "ControlTrigger" || is_choice_read ||
          (is_merge && reader.num_inputs() > 2)) {
        rule_.RefuseAt(
            node,
            "'{0}' on the dead side of '{1}' is fetched, fed or kept, has an effect, or is a "
            "ControlTrigger or a Merge of more than two inputs or with a read branch index",
            reader.name(), node.name());
        return false;
      }
      if (is_merge) {
        std::set<uint32_t>& inputs = dead->merges[use.node];
        if (static_cast<int>(use.slot) < reader.num_inputs()) inputs.insert(use.slot);
        if (static_cast<int>(inputs.size()) < reader.num_inputs()) continue;
        dead->merges.erase(use.node);
      }
      dead->nodes.insert(use.node);
      for (const Use& further : reader.uses()) open.push_back(further);
    }
    return true;
  }

  bool MergesWaitForNothing() {
    for (const auto& [id, inputs] : dead_.merges) {
      Node merge = graph_.node(id), awaited = AwaitedBy(merge);
      if (!awaited) continue;
      for (const Decided& decided : decided_) {
        rule_.RefuseAt(graph_.node(decided.node),
                       "'{0}' merges a dead side and waits for '{1}': TensorFlow then keeps every "
                       "dead side of the graph",
                       merge.name(), awaited.name());
      }
      return false;
    }
    return true;
  }

  // A node that the Merge waits for and does not read, or no node.
  static Node AwaitedBy(const Node& merge) {
    for (int i = 0; i < merge.num_controls(); ++i) {
      bool is_read = false;
      for (int k = 0; k < merge.num_inputs(); ++k)
        is_read |= merge.input(k).node == merge.control(i).id();
      if (!is_read) return merge.control(i);
    }
    return Node();
  }

  void Apply() {
    if (!rule_.BeginAt(graph_.node(decided_.front().node))) return;
    for (const Decided& decided : decided_) edit_.Used(graph_.node(decided.node));
    for (const auto& [id, inputs] : dead_.merges) {
      Node merge = graph_.node(id);
      if (inputs.empty()) continue;
      edit_.RemoveInput(merge, *inputs.begin());
      edit_.SetOp(merge, "Identity");
      edit_.RemoveAttr(merge, "N");
    }
    for (NodeId id : dead_.nodes) edit_.SetInputs(graph_.node(id), {});
    for (NodeId id : dead_.nodes) edit_.RemoveNode(graph_.node(id));
    for (const Decided& decided : decided_) {
      if (decided.is_constant && graph_.IsAlive(decided.node))
        BecomeIdentity(graph_.node(decided.node), 1 - decided.dead_port);
    }
    rule_.End();
  }

  void BecomeIdentity(const Node& node, int32_t live_port) {
    edit_.RedirectPort({node.id(), live_port}, {node.id(), 0});
    llvm::SmallVector<Port, 4> inputs = {node.input(0)};
    auto wait_for = [&](const Node& source) {
      bool is_read = llvm::any_of(inputs, [&](Port port) { return port.node == source.id(); });
      if (!is_read) inputs.push_back({source.id(), kControlPort});
    };
    wait_for(node.input_node(1));
    for (int i = 0; i < node.num_controls(); ++i) wait_for(node.control(i));
    edit_.SetOp(node, "Identity");
    edit_.SetInputs(node, inputs);
  }

  RuleContext& rule_;
  Editor& edit_;
  Graph& graph_;
  OpKinds& kinds_;
  Dead dead_;
  std::vector<Decided> decided_;
};

Verdict RemoveDeadBranches(RuleContext& rule) {
  DeadBranches(rule).Run();
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "loop_optimizer",
              .after = "remove_stack_push",
              .name = "remove_dead_branches",
              .ops = {},
              .help = "removes the nodes on the dead side of a Switch whose predicate is known",
              .refuses = "Switches that are fetched, fed or kept; dead sides with a node that must "
                         "stay, a ControlTrigger, or a Merge of more than two inputs or whose "
                         "branch index is read; all Switches of the graph if a Merge at the edge "
                         "of a dead side waits for a node that it does not read",
              .apply = RemoveDeadBranches});

}  // namespace
}  // namespace grapnel
