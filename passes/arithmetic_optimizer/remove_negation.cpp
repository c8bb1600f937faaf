// Turns addition of a negated value into subtraction, and vice versa.
//
//   Before:  x + Neg(y)     After:  x - y
//   Before:  Neg(x) + y     After:  y - x
//   Before:  x - Neg(y)     After:  x + y
//
// Refuses: nodes that are fetched, fed or kept; Neg(x) - y, which would cost as much.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveNegation(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2 || (node.op() != "Sub" && !IsAdd(node))) return rule.NotMine();
  Node x = rule.Input(node, 0), y = rule.Input(node, 1);
  bool of_y = y && y.op() == "Neg", of_x = IsAdd(node) && x && x.op() == "Neg";
  if (!of_y && !of_x) return rule.NotMine();
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  Node negation = of_y ? y : x;
  rule.edit.Used(negation);
  rule.ForwardControls(node, negation);
  if (of_y) {
    rule.edit.SetOp(node, node.op() == "Sub" ? "AddV2" : "Sub");
  } else {
    rule.edit.SetOp(node, "Sub");
    rule.edit.SetInput(node, 0, node.input(1));
  }
  rule.edit.SetInput(node, 1, negation.input(0));
  rule.Enqueue(node);
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_redundant_reshape",
              .name = "remove_negation",
              .ops = {"Add", "AddV2", "Sub"},
              .help = "x + -y becomes x - y, and x - -y becomes x + y",
              .refuses = "nodes that are fetched, fed or kept; -x - y",
              .pattern = "Add|AddV2(Neg); Sub(_, Neg)",
              .apply = RemoveNegation});

}  // namespace
}  // namespace grapnel::arithmetic
