// A function that is its own inverse, applied twice.
//
//   Before:  Neg(Reshape(Neg(x))) -> y     After:  Reshape(x) -> y
//
// So for Conj, Reciprocal, Invert, Neg and LogicalNot.
//
// Refuses: ops between that are fetched, fed, kept or read elsewhere; with ops between, also a node
// that is fetched, fed or kept itself.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveInvolution(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_involution";
  Node tail = arithmetic.TailOfOwnChain(
      node, [&](const Node& next) { return arithmetic.KeepsValue(next); });
  Node first = arithmetic.Input(tail, 0);
  if (!first || first.op_id() != node.op_id() || first == node || first.num_inputs() == 0)
    return std::nullopt;
  // What stands between changes its value, which a node that must stay would pass on. TensorFlow
  // does it all the same, and computes something else.
  if (tail != node && arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node,
                           "'{0}' is fetched, fed or kept, and '{1}' is not next to it",
                           node.name(), first.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(first);
  if (tail == node) return first.input(0);
  arithmetic.edit.SetInput(tail, 0, first.input(0));
  arithmetic.ChangesValue();
  return node.input(0);
}

}  // namespace grapnel::arithmetic
