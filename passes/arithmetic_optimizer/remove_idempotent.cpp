// Merges two consecutive nodes of the same op, which only passes its input on.
//
//   Before:  Identity(Identity(x)) -> y     After:  Identity(x) -> y
//
// Refuses: a second node that is fetched, fed or kept, or waits for other nodes; pairs on different
// devices, which copy the tensor between them; Enter, Exit, NextIteration, and ops with effects.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveIdempotent(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 1 || !rule.KeepsShape(node) || !rule.kinds.Is(node, kPureOp) ||
      rule.kinds.Is(node, kFrameOp))
    return rule.NotMine();
  Node input = node.input_node(0);
  if (input.op_id() != node.op_id()) return rule.NotMine();
  if (node.num_controls() > 0 || rule.IsPreserved(node) || input.device_id() != node.device_id()) {
    return rule.Refuse(
        "'{0}' is fetched, fed or kept, waits for other nodes or is not on the device of '{1}'\n"
        "undo this: {2}",
        node.name(), input.name(),
        rule.ObstaclesAt({node, input},
                         Obstacles::kStays | Obstacles::kControls | Obstacles::kDevice));
  }
  return rule.ReplaceBy(node.input(0));
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "convert_sqrt_div",
              .name = "remove_idempotent",
              .ops = {"CheckNumerics", "DebugGradientIdentity", "DeepCopy", "PreventGradient",
                      "Print", "Snapshot", "StopGradient", "Identity", "AddN", "AccumulateNV2"},
              .help = "Identity(Identity(x)) and the like become one node",
              .refuses = "a second node that is fetched, fed or kept, or waits for other nodes; "
                         "pairs on different devices; ops with effects",
              .apply = RemoveIdempotent});

}  // namespace
}  // namespace grapnel::arithmetic
