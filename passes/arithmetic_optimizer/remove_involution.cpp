// Removes two applications of a function that is its own inverse.
//
//   Before:  Neg(Reshape(Neg(x))) -> y     After:  Reshape(x) -> y
//
// Handles Conj, Reciprocal, Invert, Neg and LogicalNot.
//
// Refuses: ops between the two that are fetched, fed, kept or read elsewhere; if there are any
// between, also a node that is fetched, fed or kept itself.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveInvolution(Arithmetic& rule, const Node& node) {
  Node tail = rule.TailOfOwnChain(node, [&](const Node& next) { return rule.KeepsValue(next); });
  Node first = rule.Input(tail, 0);
  if (!first || first.op_id() != node.op_id() || first == node || first.num_inputs() == 0)
    return rule.NotMine();
  // Without the pair, the ops between the two compute other values. That is correct only if all
  // readers of `node` can be redirected, and those outside the graph cannot. TensorFlow removes the
  // pair anyway, and computes a wrong value.
  if (tail != node && rule.IsPreserved(node)) {
    return rule.Refuse(
        "'{0}' is fetched, fed or kept, and ops come between it and '{1}'\n"
        "use another node for that, such as an Identity of it",
        node.name(), first.name());
  }
  rule.edit.Used(first);
  if (tail == node) return rule.ReplaceBy(first.input(0));
  rule.edit.SetInput(tail, 0, first.input(0));
  rule.ChangesValue();
  return rule.ReplaceBy(node.input(0));
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "remove_identity_transpose",
     .name = "remove_involution",
     .ops = {"Conj", "Reciprocal", "Invert", "Neg", "LogicalNot"},
     .help = "Neg(Neg(x)) and the like become x",
     .refuses = "ops between the two that are fetched, fed, kept or read elsewhere; with "
                "ops between, a second node that is fetched, fed or kept",
     .pattern =
         "Conj(Conj); Reciprocal(Reciprocal); Invert(Invert); Neg(Neg); LogicalNot(LogicalNot)",
     .apply = RemoveInvolution});

}  // namespace
}  // namespace grapnel::arithmetic
