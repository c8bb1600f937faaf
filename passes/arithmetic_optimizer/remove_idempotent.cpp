// An op that hands its input on, twice in a row.
//
//   Before:  Identity(Identity(x)) -> y     After:  Identity(x) -> y
//
// Refuses: nodes that are fetched, fed or kept, or wait for something; pairs on different devices,
// which copy; loop frames and effects.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveIdempotent(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_idempotent";
  if (node.num_inputs() != 1 || !arithmetic.KeepsShape(node) ||
      !arithmetic.kinds.Is(node, kPureOp) || arithmetic.kinds.Is(node, kFrameOp))
    return std::nullopt;
  Node input = node.input_node(0);
  if (input.op_id() != node.op_id()) return std::nullopt;
  if (node.num_controls() > 0 || arithmetic.edit.IsPreserved(node) ||
      input.device_id() != node.device_id()) {
    arithmetic.edit.Refuse(
        kRule, node, "'{0}' is fetched, fed or kept, waits for something or is not where '{1}' is",
        node.name(), input.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  return node.input(0);
}

}  // namespace grapnel::arithmetic
