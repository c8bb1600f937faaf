// Batch normalisation takes the Relu after it.
//
//   Before:  FusedBatchNormV3 bn -> Relu r -> y
//   After:   _FusedBatchNormEx bn {activation_mode="Relu"} -> Identity r -> y
//
// Refuses: a second reader of the values; dtypes other than float and bfloat16; a fetched
// FusedBatchNorm; channels that are no multiple of 4; a GPU, where the choice depends on cuDNN.
#include "lib/ir/device_name.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

bool HasFusedKernel(Remapper& rule, const Node& norm) {
  DataType type = norm.GetType("T");
  std::string format = norm.GetString("data_format");
  bool has_types = (type == proto::DT_FLOAT || type == proto::DT_BFLOAT16) &&
                   (norm.op() == "FusedBatchNorm" || norm.GetType("U") == proto::DT_FLOAT);
  if (has_types && (format == "NHWC" || format == "NCHW") && !IsOn(rule.DeviceOf(norm), "GPU"))
    return true;
  return rule.Fails("'{0}' is of {1} in {2} on '{3}', which has no fused kernel", norm.name(),
                    DataTypeName(type), format, norm.device());
}

// -1 where nothing says how many.
int64_t ChannelsOf(Remapper& rule, const Node& norm) {
  for (int i = 1; i < 5; ++i) {
    Shape shape = rule.ShapeOf(norm.input(i));
    if (shape.known_rank() && shape.rank() == 1 && shape.dim(0) > 0) return shape.dim(0);
  }
  Shape values = rule.ShapeOf(norm.input(0));
  if (!values.known_rank() || values.rank() != 4) return -1;
  return values.dim(norm.GetString("data_format") == "NCHW" ? 1 : 3);
}

Verdict FuseBatchNormRelu(Remapper& rule, const Node& root) {
  Node norm = rule.Input(root, 0);
  if (!norm || !IsFusedBatchNorm(norm) || norm.num_inputs() != 5 || root.input(0).index != 0)
    return rule.NotMine();
  if (!HasFusedKernel(rule, norm) || !rule.HasNoControls(root) || !rule.HasNoControls(norm))
    return rule.Refused();
  if (int64_t channels = ChannelsOf(rule, norm); channels > 0 && channels % 4 != 0)
    return rule.Refuse(
        "'{0}' has {1} channels, and _FusedBatchNormEx takes a multiple of 4; unlike TensorFlow, "
        "which makes a graph that it cannot import",
        norm.name(), channels);
  int readers = 0;
  for (const Use& use : norm.UsesOf(0))
    readers += !rule.kinds.Is(rule.graph.node(use.node), kShapeOrRankOp);
  if (readers > 1 || rule.IsPreserved(norm))
    return rule.Refuse("'{0}' is fetched or read {1} times", norm.name(), readers);
  if (!rule.NeedsNoGradient(root) || !rule.HasOneDnn(root) || !rule.MayLoseNan(root))
    return rule.Refused();
  DataType type = norm.GetType("T");
  RemapAttrs attrs = {{"activation_mode", attr::String("Relu")}, {"num_side_inputs", attr::Int(0)}};
  for (const char* key : {"T", "is_training", "data_format", "epsilon", "exponential_avg_factor"})
    CopyAttr(&attrs, norm, key);
  attrs.emplace_back(
      "U", attr::Type(norm.op() == "FusedBatchNorm" ? proto::DT_FLOAT : norm.GetType("U")));
  rule.Become(norm, "_FusedBatchNormEx", norm.device(), norm.inputs(), attrs);
  rule.Become(root, "Identity", norm.device(), Port{norm.id(), 0}, {{"T", attr::Type(type)}});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .place = 16,
     .name = "fuse_batch_norm_relu",
     .ops = {"Relu"},
     .help = "FusedBatchNorm and Relu become _FusedBatchNormEx",
     .refuses = "a second reader of the values, fetched ones, channels that are no multiple of 4, "
                "GPUs",
     .apply = FuseBatchNormRelu});

}  // namespace
}  // namespace grapnel::remapper
