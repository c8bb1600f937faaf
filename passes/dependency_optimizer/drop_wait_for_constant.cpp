// Drops control edges from constants, which exist before anything runs.
//
//   Before:  k = Const -^> y        After:  y, and k is removed if it is unread and need not stay
//
// Refuses: constants that have control inputs themselves.
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

// Always claims a constant without inputs, so that no other rule handles it.
Verdict DropWaitForConstant(Dependencies& rule, const Node& constant) {
  if (constant.num_inputs() + constant.num_controls() > 0) return rule.NotMine();
  Graph& graph = rule.graph;
  llvm::SmallVector<NodeId, 8> waiting;
  for (const Use& use : constant.uses()) {
    if (graph.node(use.node).input(use.slot).IsControl()) waiting.push_back(use.node);
  }
  bool goes =
      rule.has_fetches && !rule.IsPreserved(constant) && waiting.size() == constant.uses().size();
  for (NodeId id : waiting) rule.Push(graph.node(id));
  for (size_t i = constant.uses().size(); i-- > 0;) {
    Use use = constant.uses()[i];
    Node reader = graph.node(use.node);
    if (reader.input(use.slot).IsControl()) rule.edit.SetControlSlot(reader, use.slot, Node());
  }
  if (goes) rule.edit.RemoveNode(constant);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "dependency_optimizer",
              .phase = kNodes,
              .after = kFirst,
              .name = "drop_wait_for_constant",
              .ops = {"Const"},
              .help = "drops control edges from a constant, and the constant if it is unread",
              .refuses = "constants with control inputs",
              .apply = DropWaitForConstant});

}  // namespace
}  // namespace grapnel
