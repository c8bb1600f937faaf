// Fuses a Swish that is written as separate ops.
//
//   Before:  x * Sigmoid(x) -> y      After:  _MklSwish(x) -> y
//
// Refuses: dtypes other than float and bfloat16; nodes off the CPU; a Sigmoid that is fetched, read
// from outside or has control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseSwish(Remapper& rule, const Node& root) {
  Node sigmoid = FindMadeFromOther(root, "Sigmoid", [](const Node& node) { return node.input(0); });
  if (!sigmoid) return rule.NotMine();
  if (!rule.IsFloatOnCpu(root) || !rule.WaitsForNone(root) || !rule.CanTake(root, sigmoid) ||
      !rule.HasOneDnn(root))
    return rule.Refused();
  RemapAttrs attrs;
  CopyAttr(&attrs, root, "T");
  rule.Become(root, "_MklSwish", root.device(), {sigmoid.input(0)}, attrs);
  rule.Remove({sigmoid});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_leaky_relu",
              .name = "fuse_swish",
              .ops = {"Mul"},
              .help = "x * Sigmoid(x) becomes _MklSwish",
              .refuses = "nodes off the CPU, dtypes other than float and bfloat16, a Sigmoid that "
                         "is fetched, read from outside or has control edges",
              .pattern = "(x, Sigmoid(x))",
              .apply = FuseSwish});

}  // namespace
}  // namespace grapnel::remapper
