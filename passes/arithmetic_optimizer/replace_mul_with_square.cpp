// A product of a tensor with itself.
//
//   Before:  Mul(x, x) -> y     After:  Square(x) -> y
//
// Refuses: complex numbers anywhere but on a CPU.
#include "lib/ir/device_name.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified ReplaceMulWithSquare(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "replace_mul_with_square";
  if (node.num_inputs() != 2 || node.input(0) != node.input(1)) return std::nullopt;
  std::string name = Arithmetic::NameFor(node, "ReplaceMulWithSquare");
  if (arithmetic.Exists(name)) return std::nullopt;
  if (IsComplex(node.GetType("T")) && !IsOn(node.device(), "CPU")) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is complex and on '{1}', a CPU was expected",
                           node.name(), node.device());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  Node square = arithmetic.Copy(name, node);
  arithmetic.edit.SetOp(square, "Square");
  arithmetic.edit.RemoveInput(square, 1);
  return By(square);
}

}  // namespace grapnel::arithmetic
