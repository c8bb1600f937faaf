// Adding what is negated is subtracting, and the other way round.
//
//   Before:  x + Neg(y)     After:  x - y
//   Before:  Neg(x) + y     After:  y - x
//   Before:  x - Neg(y)     After:  x + y
//
// Refuses: nodes that are fetched, fed or kept; Neg(x) - y, which would cost as much.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveNegation(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_negation";
  if (node.num_inputs() != 2 || (node.op() != "Sub" && !IsAdd(node))) return std::nullopt;
  Node x = node.input_node(0), y = node.input_node(1);
  bool of_y = y.op() == "Neg", of_x = IsAdd(node) && x.op() == "Neg";
  if (!of_y && !of_x) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  Node negation = of_y ? y : x;
  arithmetic.edit.Used(negation);
  arithmetic.ForwardControls(node, negation);
  if (of_y) {
    arithmetic.edit.SetOp(node, node.op() == "Sub" ? "AddV2" : "Sub");
  } else {
    arithmetic.edit.SetOp(node, "Sub");
    arithmetic.edit.SetInput(node, 0, node.input(1));
  }
  arithmetic.edit.SetInput(node, 1, negation.input(0));
  arithmetic.Enqueue(node);
  return std::nullopt;
}

}  // namespace grapnel::arithmetic
