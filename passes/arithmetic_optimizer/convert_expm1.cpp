// Replaces Exp(x) - 1 with the op that is exact near 0. The node changes in place and waits for the
// constant.
//
//   Before:  Exp(x) - 1       After:  Expm1(x)
//
// Refuses: constants other than real floating-point ones; constants with which x would be broadcast
// to another shape; unknown shapes.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict ConvertExpm1(Arithmetic& rule, const Node& node) {
  Node exp = rule.Input(node, 0);
  if (!exp || exp.op() != "Exp" || node.num_inputs() != 2 || !rule.IsOnes(node.input(1)))
    return rule.NotMine();
  if (!rule.LeavesShape(node, 0, 1)) return rule.Refused();
  Node x = exp.input_node(0), ones = node.input_node(1);
  rule.edit.Used(exp);
  rule.edit.SetOp(node, "Expm1");
  rule.edit.SetInput(node, 0, exp.input(0));
  rule.MarkStaleReader(node, exp.input(0));
  rule.TurnIntoControl(node, 1);
  rule.ForwardControls(node, exp);
  rule.Enqueue({node, exp, x, ones});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "max_or_min_of_monotonic",
     .name = "convert_expm1",
     .ops = {"Sub"},
     .help = "Exp(x) - 1 becomes Expm1",
     .refuses = "a constant of ones that changes the shape; complex numbers; unknown shapes",
     .pattern = "(Exp, 1)",
     .apply = ConvertExpm1});

}  // namespace
}  // namespace grapnel::arithmetic
