// A push on a stack that nobody pops hands its value on.
//
//   Before:  stack -> Enter -> StackPushV2(x) -> y        After:  x, ^Enter -> Identity -> y
//
// What a loop saves for its gradient is in vain when the gradient is not asked for.
//
// Refuses: stacks that are fetched or kept, as another graph may pop them; stacks whose handle goes
// to a pop that is read, or to an op that is not known to leave them alone.
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/loop_optimizer/loop_optimizer.h"

namespace grapnel {
namespace {

constexpr const char* kRule = "remove_stack_push";

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

// The pushes of the stack that may go.
std::vector<NodeId> PushesOf(Editor& edit, const Node& stack) {
  Graph& graph = edit.graph();
  std::vector<NodeId> pushes, open = {stack.id()};
  llvm::DenseSet<NodeId> seen = {stack.id()};
  while (!open.empty()) {
    Node node = graph.node(open.back());
    open.pop_back();
    StackRole role = RoleOf(node);
    if (role == StackRole::kPush) pushes.push_back(node.id());
    bool is_read_pop = role == StackRole::kPop && (!node.uses().empty() || edit.IsPreserved(node));
    if (is_read_pop || role == StackRole::kNone) {
      edit.Refuse(kRule, stack, "'{0}' ({1}) may take values from the stack", node.name(),
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

}  // namespace

bool RemoveStackPushes(Editor& edit) {
  Graph& graph = edit.graph();
  OpKinds kinds(graph.module());
  std::vector<NodeId> stacks;
  for (Node node : graph.nodes()) {
    if (RoleOf(node) == StackRole::kStack) stacks.push_back(node.id());
  }
  for (NodeId id : stacks) {
    Node stack = graph.node(id);
    std::vector<NodeId> pushes = PushesOf(edit, stack);
    if (pushes.empty()) continue;
    if (edit.IsPreserved(stack)) {
      edit.Refuse(kRule, stack, "'{0}' is fetched, fed or kept: others may pop it", stack.name());
      continue;
    }
    for (NodeId push_id : pushes) {
      Node push = graph.node(push_id);
      if (!edit.Begin(kRule, push)) return false;
      llvm::SmallVector<Port, 4> inputs = {push.input(1)};
      inputs.push_back({LoopAnchor(edit, kinds, push.input(0)).id(), kControlPort});
      for (int i = 0; i < push.num_controls(); ++i)
        inputs.push_back({push.control(i).id(), kControlPort});
      edit.SetOp(push, "Identity");
      edit.SetInputs(push, inputs);
      edit.RemoveAttr(push, "swap_memory");
      edit.End();
    }
  }
  return true;
}

}  // namespace grapnel
