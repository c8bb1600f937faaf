// Turns division by a constant into multiplication by its reciprocal, which then folds.
//
//   Before:  x, c:Const -> RealDiv -> y
//   After:   c -> "ConstantFolding/RealDiv_recip":Reciprocal
//            x, recip -> Mul -> y                       (Xdivy: MulNoNan(recip, x))
//
// Refuses: Div of integers, which rounds.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict ReduceDivision(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || !rule.IsConst(node.input(1))) return rule.NotMine();
  DataType type = node.GetType("T");
  if (type == proto::DT_INVALID) return rule.NotMine();
  if (node.op() == "Div" && !IsFloating(type) && !IsComplex(type))
    return rule.Refuse("the division of {0} in '{1}' rounds\ndivide floating-point numbers",
                       DataTypeName(type), node.name());
  std::string name = Folding::NameFor(node, "_recip");
  if (rule.Exists(name)) return rule.Refuse("node '{0}' already exists\nrename it", name);
  Port x = node.input(0), c = node.input(1);
  Node reciprocal = rule.Make(name, "Reciprocal", node.device(), c);
  rule.SetType(reciprocal, "T", type);
  bool no_nan = node.op() == "Xdivy";
  Port factor = {reciprocal.id(), 0};
  rule.edit.SetInput(node, 0, no_nan ? factor : x);
  rule.edit.SetInput(node, 1, no_nan ? x : factor);
  rule.edit.SetOp(node, no_nan ? "MulNoNan" : "Mul");
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "absorbing_element",
              .name = "reciprocal_of_constant",
              .ops = {"Div", "RealDiv", "Xdivy"},
              .help = "turns division by a constant into multiplication",
              .refuses = "division of integers, which rounds",
              .pattern = "(_, Const)",
              .apply = ReduceDivision});

}  // namespace
}  // namespace grapnel::constant_folding
