// Fuses a Mish that is written as separate ops.
//
//   Before:  x * Tanh(Softplus(x)) -> y      After:  _MklFusedMish(x) -> y
//
// Refuses: dtypes other than float and bfloat16; nodes off the CPU; inner nodes that are fetched,
// read from outside or have control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseMish(Remapper& rule, const Node& root) {
  Node tanh = FindMadeFromOther(root, "Tanh", [](const Node& node) {
    Node softplus = node.input_node(0);
    return softplus.op() == "Softplus" ? softplus.input(0) : Port();
  });
  if (!tanh) return rule.NotMine();
  Node softplus = tanh.input_node(0);
  if (!rule.IsFloatOnCpu(root) || !rule.WaitsForNone(root) || !rule.CanTake(root, tanh) ||
      !rule.CanTake(root, softplus) || !rule.HasOneDnn(root))
    return rule.Refused();
  RemapAttrs attrs;
  CopyAttr(&attrs, root, "T");
  rule.Become(root, "_MklFusedMish", root.device(), {softplus.input(0)}, attrs);
  rule.Remove({tanh, softplus});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_pad_conv3d",
              .name = "fuse_mish",
              .ops = {"Mul"},
              .help = "x * Tanh(Softplus(x)) becomes _MklFusedMish",
              .refuses = "nodes off the CPU, dtypes other than float and bfloat16, inner nodes "
                         "that are fetched, read from outside or have control edges",
              .pattern = "(x, Tanh(Softplus(x)))",
              .apply = FuseMish});

}  // namespace
}  // namespace grapnel::remapper
