// Turns division by a square root into multiplication by its reciprocal, which has an op.
//
//   Before:  Div(x, s = Sqrt(y))       After:  Mul(x, s = Rsqrt(y))
//   Before:  Xdivy(x, s = Sqrt(y))     After:  MulNoNan(s = Rsqrt(y), x)
//
// Both nodes change in place.
//
// Refuses: a root that is fetched, fed, kept or read elsewhere; FloorDiv and DivNoNan.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict ConvertSqrtDiv(Arithmetic& rule, const Node& node) {
  Node root = rule.Input(node, 1);
  if (!root || root.op() != "Sqrt") return rule.NotMine();
  if (!rule.IsOwn(root)) return rule.Refused();
  if (node.op() == "Xdivy") {
    Port x = node.input(0);
    rule.edit.SetOp(node, "MulNoNan");
    rule.edit.SetInput(node, 0, node.input(1));
    rule.edit.SetInput(node, 1, x);
  } else {
    rule.edit.SetOp(node, "Mul");
  }
  rule.edit.SetOp(root, "Rsqrt");
  rule.Enqueue({node, root});
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "hoist_unary_chains",
              .name = "convert_sqrt_div",
              .ops = {"Div", "RealDiv", "TruncateDiv", "Xdivy"},
              .help = "x / Sqrt(y) becomes x * Rsqrt(y)",
              .refuses = "a root that is fetched, fed, kept or read elsewhere",
              .pattern = "(_, Sqrt)",
              .apply = ConvertSqrtDiv});

}  // namespace
}  // namespace grapnel::arithmetic
