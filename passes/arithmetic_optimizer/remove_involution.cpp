// A function that is its own inverse, applied twice.
//
//   Before:  Neg(Reshape(Neg(x))) -> y     After:  Reshape(x) -> y
//
// So for Conj, Reciprocal, Invert, Neg and LogicalNot.
//
// Refuses: ops between that are fetched, fed, kept or read elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveInvolution(Arithmetic& arithmetic, const Node& node) {
  Node tail = arithmetic.TailOfOwnChain(
      node, [&](const Node& next) { return arithmetic.KeepsValue(next); });
  Node first = arithmetic.Input(tail, 0);
  if (!first || first.op_id() != node.op_id() || first == node || first.num_inputs() == 0)
    return std::nullopt;
  if (!arithmetic.Begin("remove_involution", node)) return std::nullopt;
  arithmetic.edit.Used(first);
  if (tail == node) return first.input(0);
  arithmetic.edit.SetInput(tail, 0, first.input(0));
  arithmetic.ChangesValue();
  return node.input(0);
}

}  // namespace grapnel::arithmetic
