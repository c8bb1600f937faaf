// Fuses Conv2D with an inference batch normalization, and the activation after it. Two rules: one
// is applied to the batch normalization, the other to the activation.
//
//   Before:  x, w -> Conv2D -> FusedBatchNormV3(scale, offset, mean, variance) -> Relu -> y
//   After:   x, w, scale, offset, mean, variance
//            -> _FusedConv2D {fused_ops=[FusedBatchNorm, Relu], num_args=4} -> y
//
// Refuses: training mode; bfloat16; statistics other than float; any output but the first that is
// read or fetched; a Conv2D that is fetched, read twice or not on a CPU; Sigmoid; Tanh, which
// TensorFlow fuses although it has no kernel for it.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// The Conv2D before the batch normalization `norm`; no node if these are not the ops or, with a
// refusal at `norm`, if they cannot be fused.
Node MatchConvBatchNorm(Remapper& rule, const Node& norm) {
  if (!IsFusedBatchNorm(norm) || norm.num_inputs() < 5) return Node();
  Node conv = norm.input_node(0);
  if (conv.op() != "Conv2D") return Node();
  if (norm.GetBool("is_training", true)) {
    rule.RefuseAt(norm, "'{0}' is in training mode\nuse the model for inference: training=False",
                  norm.name());
    return Node();
  }
  DataType type = norm.GetType("T");
  bool has_float_statistics = norm.op() == "FusedBatchNorm" || norm.GetType("U") == proto::DT_FLOAT;
  if (!has_float_statistics || type == proto::DT_BFLOAT16 || type != conv.GetType("T")) {
    rule.RefuseAt(
        norm,
        "'{0}' has dtype {1} or a scale that is not float, for which there is no fused kernel\n"
        "compute it in float",
        norm.name(), DataTypeName(type));
    return Node();
  }
  if (!rule.OnlyFirstIsUsed(norm) || !rule.HasNoControls(norm) || !rule.CanTake(norm, conv) ||
      !HasSameChannels(rule, norm, conv) || !IsFusable(rule, norm, conv))
    return Node();
  return conv;
}

void Fuse(Remapper& rule, const Node& root, const Node& norm, const Node& conv,
          llvm::ArrayRef<llvm::StringRef> fused_ops) {
  Port inputs[] = {conv.input(0), conv.input(1), norm.input(1),
                   norm.input(2), norm.input(3), norm.input(4)};
  RemapAttrs attrs = FusedAttrsOf(rule, conv, fused_ops, 4, norm.GetFloat("epsilon"), root);
  rule.Become(root, "_FusedConv2D", conv.device(), inputs, attrs);
}

Verdict FuseConvBatchNorm(Remapper& rule, const Node& root) {
  Node conv = MatchConvBatchNorm(rule, root);
  if (!conv) return rule.NotMine();
  if (!rule.NeedsNoGradient(root)) return rule.Refused();
  Fuse(rule, root, root, conv, {"FusedBatchNorm"});
  rule.Remove({conv});
  return rule.Done();
}

Verdict FuseConvBatchNormActivation(Remapper& rule, const Node& root) {
  Node norm = rule.Input(root, 0);
  Node conv = norm ? MatchConvBatchNorm(rule, norm) : Node();
  if (!conv) return rule.NotMine();
  if (!rule.HasNoControls(root) || !rule.CanTake(root, norm)) return rule.Refused();
  if (root.GetType("T") != norm.GetType("T"))
    return rule.NotMine("'{0}' and '{1}' have different dtypes\nuse one dtype", root.name(),
                        norm.name());
  if (!rule.NeedsNoGradient(root) || !rule.MayLoseNan(root)) return rule.Refused();
  Fuse(rule, root, norm, conv, {"FusedBatchNorm", root.op()});
  rule.Remove({norm, conv});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_squeeze_bias",
              .name = "fuse_conv_batch_norm",
              .ops = {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"},
              .help = "Conv2D and an inference FusedBatchNorm become _FusedConv2D",
              .refuses = "training mode; bfloat16, and scales that are not float; outputs other "
                         "than the first that are read or fetched; a Conv2D that is off the CPU, "
                         "fetched, fed, kept or read twice; control edges",
              .pattern = "(Conv2D)",
              .apply = FuseConvBatchNorm});

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_conv_batch_norm",
              .name = "fuse_conv_batch_norm_activation",
              .ops = {"Relu", "Relu6", "Elu", "LeakyRelu"},
              .help = "Conv2D, an inference FusedBatchNorm and the activation become one op",
              .refuses = "training mode; bfloat16, and scales that are not float; outputs other "
                         "than the first that are read or fetched; a Conv2D that is off the CPU, "
                         "fetched, fed, kept or read twice; control edges",
              .pattern = "(FusedBatchNorm|FusedBatchNormV2|FusedBatchNormV3(Conv2D))",
              .apply = FuseConvBatchNormActivation});

}  // namespace
}  // namespace grapnel::remapper
