// Fuses Conv2D with its bias or batch normalization and the Swish after it.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> t;  t * Sigmoid(t) -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd, _MklSwish]} -> y
//
// Refuses: training mode; batch normalization of other dtypes than float; nodes off the CPU; inner
// nodes that are fetched, read from outside or have control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// True if the batch normalization `norm` is for inference, in float; otherwise records a refusal.
bool IsFloatInference(Remapper& rule, const Node& norm, DataType type) {
  bool is_float = norm.op() == "FusedBatchNorm" ||
                  (norm.GetType("U") == proto::DT_FLOAT && type == proto::DT_FLOAT);
  if (is_float && !norm.GetBool("is_training", true)) return true;
  return rule.Fails(
      "'{0}' is not a float batch normalization for inference\n"
      "use the model for inference, training=False, in float",
      norm.name());
}

// True if only the product and the Sigmoid read `middle`, which has no control edges and need not
// stay; otherwise records a refusal.
bool CanTakeMiddle(Remapper& rule, const Node& middle) {
  if (!rule.HasControls(middle) && middle.uses().size() == 2 && !rule.IsPreserved(middle))
    return true;
  return rule.Fails(
      "'{0}' is fetched, fed or kept, read from outside or has control edges\nundo this: {1}",
      middle.name(),
      rule.ObstaclesAt({middle}, Obstacles::kStays | Obstacles::kReaders | Obstacles::kControls));
}

Verdict FuseConvSwish(Remapper& rule, const Node& root) {
  if (root.num_inputs() != 2) return rule.NotMine();
  Node sigmoid = root.input_node(0), middle = root.input_node(1);
  if (sigmoid.op() != "Sigmoid") std::swap(sigmoid, middle);
  if (sigmoid.op() != "Sigmoid" || sigmoid.input(0) != Port{middle.id(), 0}) return rule.NotMine();
  bool is_bias = middle.op() == "BiasAdd";
  if (!is_bias && !IsFusedBatchNorm(middle)) return rule.NotMine();
  Node conv = middle.input_node(0);
  if (conv.op() != "Conv2D") return rule.NotMine();
  if (!rule.IsFloatOnCpu(root) ||
      (!is_bias && !IsFloatInference(rule, middle, root.GetType("T"))) ||
      !CanTakeMiddle(rule, middle) || !rule.WaitsForNone(root) || !rule.CanTake(root, sigmoid) ||
      !rule.CanTake(root, conv) || !IsFusable(rule, root, conv) || !rule.HasOneDnn(root))
    return rule.Refused();
  llvm::SmallVector<Port, 6> inputs = {conv.input(0), conv.input(1)};
  for (int i = 1; i < (is_bias ? 2 : 5); ++i) inputs.push_back(middle.input(i));
  RemapAttrs attrs = is_bias ? FusedAttrsOf(rule, conv, {"BiasAdd", "_MklSwish"}, 1)
                             : FusedAttrsOf(rule, conv, {"FusedBatchNorm", "_MklSwish"}, 4,
                                            middle.GetFloat("epsilon"));
  rule.Become(root, "_FusedConv2D", root.device(), inputs, attrs);
  rule.Remove({sigmoid, middle, conv});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .after = "fuse_mish",
     .name = "fuse_conv_swish",
     .ops = {"Mul"},
     .help = "Conv2D, bias or batch norm, and x * Sigmoid(x) become _FusedConv2D",
     .refuses = "training mode, batch norms of other dtypes than float, nodes off the CPU, inner "
                "nodes that are fetched, read from outside or have control edges",
     .pattern = "(t:BiasAdd|FusedBatchNorm|FusedBatchNormV2|FusedBatchNormV3(Conv2D), Sigmoid(t))",
     .apply = FuseConvSwish});

}  // namespace
}  // namespace grapnel::remapper
