// Fuses a contraction with its bias.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd]} -> y
//
// Also MatMul, DepthwiseConv2dNative and Conv3D; and an Add of a tensor that has the shape of a
// bias.
//
// Refuses: a contraction that is fetched, read twice or not on a CPU; control edges; contractions
// for which IsFusable (remapper.h) is false.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseBias(Remapper& rule, const Node& root) {
  auto match = MatchBias(rule, root);
  if (!match) return rule.NotMine();
  const Node& contraction = match->contraction;
  if (!IsFusable(rule, root, contraction) || !rule.NeedsNoGradient(root)) return rule.Refused();
  Port inputs[] = {contraction.input(0), contraction.input(1), match->bias()};
  rule.Become(root, FusedOpOf(contraction), contraction.device(), inputs,
              FusedAttrsOf(rule, contraction, {"BiasAdd"}, 1));
  rule.Remove({contraction});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_batch_matmul",
              .name = "fuse_bias",
              .ops = {"BiasAdd", "Add", "AddV2"},
              .help = "Conv2D, DepthwiseConv2dNative, Conv3D or MatMul and its bias become one op",
              .refuses = "contractions that are off the CPU, fetched, fed, kept or read twice, "
                         "control edges, dtypes and layouts without a fused kernel",
              .pattern = kAfterContraction,
              .apply = FuseBias});

}  // namespace
}  // namespace grapnel::remapper
