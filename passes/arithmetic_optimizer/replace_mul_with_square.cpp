// Replaces the product of a tensor with itself.
//
//   Before:  Mul(x, x) -> y     After:  Square(x) -> y
//
// Refuses: complex numbers anywhere but on a CPU.
#include "lib/ir/device_name.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict ReplaceMulWithSquare(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2 || node.input(0) != node.input(1)) return rule.NotMine();
  std::string name = Arithmetic::NameFor(node, "ReplaceMulWithSquare");
  if (rule.Exists(name)) return rule.NotMine();
  if (IsComplex(node.GetType("T")) && !IsOn(rule.DeviceOf(node), "CPU")) {
    return rule.Refuse(
        "'{0}' is complex and on {1}, a CPU was expected (see --device)\nplace it on a CPU",
        node.name(), QuotedDevice(node.device()));
  }
  Node square = rule.Copy(name, node);
  rule.edit.SetOp(square, "Square");
  rule.edit.RemoveInput(square, 1);
  return rule.ReplaceBy(square);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_negation",
              .name = "replace_mul_with_square",
              .ops = {"Mul", "MulNoNan"},
              .help = "x * x becomes Square",
              .refuses = "complex numbers anywhere but on a CPU",
              .pattern = "(x, x)",
              .apply = ReplaceMulWithSquare});

}  // namespace
}  // namespace grapnel::arithmetic
