// Replaces Log(1 + x) with the op that is exact near 0. The node changes in place and waits for the
// constant.
//
//   Before:  Log(x + 1)       After:  Log1p(x)
//
// Refuses: constants other than real floating-point ones; constants with which x would be broadcast
// to another shape; unknown shapes.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict ConvertLog1p(Arithmetic& rule, const Node& node) {
  Node sum = rule.Input(node, 0);
  if (!sum || !IsAdd(sum) || sum.num_inputs() != 2) return rule.NotMine();
  Verdict verdict = rule.NotMine();
  for (int i = 0; i < 2; ++i) {
    if (!rule.IsOnes(sum.input(1 - i))) continue;
    if (!rule.LeavesShape(sum, i, 1 - i)) {
      verdict = rule.Refused();
      continue;
    }
    Node x = sum.input_node(i), ones = sum.input_node(1 - i);
    rule.edit.Used(sum);
    rule.edit.SetOp(node, "Log1p");
    rule.edit.SetInput(node, 0, sum.input(i));
    rule.MarkStaleReader(node, sum.input(i));
    rule.edit.AddControl(node, ones);
    rule.ForwardControls(node, sum);
    rule.Enqueue({node, sum, x, ones});
    return rule.Done();
  }
  return verdict;
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "convert_pow",
     .name = "convert_log1p",
     .ops = {"Log"},
     .help = "Log(1 + x) becomes Log1p",
     .refuses = "a constant of ones that changes the shape; complex numbers; unknown shapes",
     .pattern = "(Add|AddV2(_, 1))",
     .apply = ConvertLog1p});

}  // namespace
}  // namespace grapnel::arithmetic
