// Turns a push on a stack that is never popped into an Identity.
//
//   Before:  stack -> Enter -> StackPushV2(x) -> y        After:  x, ^Enter -> Identity -> y
//
// A loop saves values for its gradient in vain if the gradient is not computed.
//
// Refuses: stacks that are fetched, fed or kept, since another graph may pop them; stacks whose
// handle goes to a pop that is used or must stay, or to an op that may pop values.
#include "lib/pass/rule.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

enum class StackRole { kNone, kStack, kHandsOn, kPush, kPop, kClose };

StackRole RoleOf(const Node& node) {
  return llvm::StringSwitch<StackRole>(node.op())
      .Cases("Stack", "StackV2", StackRole::kStack)
      .Cases("Enter", "RefEnter", "Switch", "RefSwitch", "_SwitchN", StackRole::kHandsOn)
      .Cases("Identity", "RefIdentity", StackRole::kHandsOn)
      .Cases("StackPush", "StackPushV2", StackRole::kPush)
      .Cases("StackPop", "StackPopV2", StackRole::kPop)
      .Cases("StackClose", "StackCloseV2", StackRole::kClose)
      .Default(StackRole::kNone);
}

// The pushes on the stack; none, with a refusal, if a node may pop values from it.
std::vector<NodeId> PushesOf(RuleContext& rule, const Node& stack) {
  Graph& graph = rule.graph;
  std::vector<NodeId> pushes, open = {stack.id()};
  llvm::DenseSet<NodeId> seen = {stack.id()};
  while (!open.empty()) {
    Node node = graph.node(open.back());
    open.pop_back();
    StackRole role = RoleOf(node);
    if (role == StackRole::kPush) pushes.push_back(node.id());
    bool is_read_pop = role == StackRole::kPop && (!node.uses().empty() || rule.IsPreserved(node));
    if (is_read_pop || role == StackRole::kNone) {
      rule.RefuseAt(stack, "'{0}' ({1}) may pop values from the stack\nleave it out", node.name(),
                    node.op());
      return {};
    }
    if (role != StackRole::kStack && role != StackRole::kHandsOn) continue;
    for (const Use& use : node.uses()) {
      if (seen.insert(use.node).second) open.push_back(use.node);
    }
  }
  return pushes;
}

void BecomeIdentity(RuleContext& rule, const Node& push) {
  llvm::SmallVector<Port, 4> inputs = {push.input(1)};
  inputs.push_back({rule.Anchor(push.input(0)).id(), kControlPort});
  for (int i = 0; i < push.num_controls(); ++i)
    inputs.push_back({push.control(i).id(), kControlPort});
  rule.edit.SetOp(push, "Identity");
  rule.edit.SetInputs(push, inputs);
  rule.edit.RemoveAttr(push, "swap_memory");
}

Verdict RemoveStackPushes(RuleContext& rule) {
  std::vector<NodeId> stacks;
  for (Node node : rule.graph.nodes()) {
    if (RoleOf(node) == StackRole::kStack) stacks.push_back(node.id());
  }
  for (NodeId id : stacks) {
    Node stack = rule.graph.node(id);
    std::vector<NodeId> pushes = PushesOf(rule, stack);
    if (pushes.empty()) continue;
    if (rule.IsPreserved(stack)) {
      rule.RefuseAt(stack,
                    "'{0}' is fetched, fed or kept: another graph may pop it\ndo not fetch it",
                    stack.name());
      continue;
    }
    for (NodeId push_id : pushes) {
      Node push = rule.graph.node(push_id);
      if (!rule.BeginAt(push)) return rule.Done();
      BecomeIdentity(rule, push);
      rule.End();
    }
  }
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "loop_optimizer",
              .after = kFirst,
              .name = "remove_stack_push",
              .ops = {},
              .help = "a push on a stack that is never popped becomes an Identity",
              .refuses = "stacks that are fetched, fed or kept; stacks that may be popped",
              .apply = RemoveStackPushes});

}  // namespace
}  // namespace grapnel
