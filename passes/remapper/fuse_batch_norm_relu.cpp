// Fuses batch normalization with the Relu after it, on a GPU also with a sum between the two.
//
//   Before:  FusedBatchNormV3 bn -> AddV2(side) -> Relu r -> y
//   After:   _FusedBatchNormEx(.., side) bn {activation_mode="Relu", num_side_inputs=1}
//            -> Identity r -> y
//
// Refuses: a second reader of the values, other than Shape and the like; dtypes other than float
// and bfloat16 (on a GPU float, and half without oneDNN); a FusedBatchNorm that is fetched, fed or
// kept; control edges; channels that are not a multiple of 4; on a GPU training mode, which
// TensorFlow fuses only where TF_USE_CUDNN_BATCHNORM_SPATIAL_PERSISTENT is set.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

bool HasFusedKernel(Remapper& rule, const Node& norm) {
  const bool on_gpu = IsOn(rule.DeviceOf(norm), "GPU"), onednn = rule.edit.boundary().onednn;
  DataType type = norm.GetType("T"), other = on_gpu ? proto::DT_HALF : proto::DT_BFLOAT16;
  std::string format = norm.GetString("data_format");
  bool has_types = (type == proto::DT_FLOAT || (type == other && on_gpu != onednn)) &&
                   (norm.op() == "FusedBatchNorm" || norm.GetType("U") == proto::DT_FLOAT);
  if (!has_types || (format != "NHWC" && format != "NCHW"))
    return rule.Fails(
        "'{0}' has dtype {1} and layout {2} and is on {3}, where no fused kernel takes it, or its "
        "scale is not float\ncompute it in float, in the data format NHWC or NCHW",
        norm.name(), DataTypeName(type), format, QuotedDevice(norm.device()));
  if (on_gpu && norm.GetBool("is_training", true))
    return rule.Fails(
        "'{0}' is in training mode, which TensorFlow by default does not fuse on a GPU\n"
        "use the model for inference, or set TF_USE_CUDNN_BATCHNORM_SPATIAL_PERSISTENT=1",
        norm.name());
  return true;
}

// The number of channels; not positive if unknown.
int64_t ChannelsOf(Remapper& rule, const Node& norm) {
  for (int i = 1; i < 5; ++i) {
    Shape shape = rule.ShapeOf(norm.input(i));
    if (shape.known_rank() && shape.rank() == 1 && shape.dim(0) > 0) return shape.dim(0);
  }
  Shape values = rule.ShapeOf(norm.input(0));
  if (!values.known_rank() || values.rank() != 4) return -1;
  return values.dim(norm.GetString("data_format") == "NCHW" ? 1 : 3);
}

// True if `norm` can be fused with the Relu `root`, whatever is between the two; otherwise records
// a refusal.
bool IsFusableNorm(Remapper& rule, const Node& root, const Node& norm) {
  if (!HasFusedKernel(rule, norm) || !rule.HasNoControls(root) || !rule.HasNoControls(norm))
    return false;
  if (int64_t channels = ChannelsOf(rule, norm); channels > 0 && channels % 4 != 0)
    return rule.Fails(
        "'{0}' has {1} channels, but _FusedBatchNormEx requires a multiple of 4; unlike "
        "TensorFlow, "
        "which makes a graph that it cannot import\nuse a multiple of 4 channels",
        norm.name(), channels);
  int readers = 0;
  for (const Use& use : norm.UsesOf(0))
    readers += !rule.kinds.Is(rule.graph.node(use.node), kShapeOrRankOp);
  if (readers > 1 || rule.IsPreserved(norm))
    return rule.Fails(
        "'{0}' is fetched, fed or kept, or its values are read {1} times\nundo this: {2}",
        norm.name(), readers, rule.ObstaclesAt({norm}, Obstacles::kStays | Obstacles::kReaders));
  return rule.NeedsNoGradient(root) && (IsOn(rule.DeviceOf(norm), "GPU") || rule.HasOneDnn(root)) &&
         rule.MayLoseNan(root);
}

void Fuse(Remapper& rule, const Node& root, const Node& norm, Port side) {
  DataType type = norm.GetType("T");
  RemapAttrs attrs = {{"activation_mode", attr::String("Relu")},
                      {"num_side_inputs", attr::Int(side.node == kNoNode ? 0 : 1)}};
  for (const char* key : {"T", "is_training", "data_format", "epsilon", "exponential_avg_factor"})
    CopyAttr(&attrs, norm, key);
  attrs.emplace_back(
      "U", attr::Type(norm.op() == "FusedBatchNorm" ? proto::DT_FLOAT : norm.GetType("U")));
  llvm::SmallVector<Port, 6> inputs;
  llvm::append_range(inputs, norm.inputs());
  if (side.node != kNoNode) inputs.push_back(side);
  rule.Become(norm, "_FusedBatchNormEx", norm.device(), inputs, attrs);
  rule.Become(root, "Identity", norm.device(), Port{norm.id(), 0}, {{"T", attr::Type(type)}});
}

bool IsNorm(const Node& node) { return node && IsFusedBatchNorm(node) && node.num_inputs() == 5; }

// Fuses the Relu `root`, the sum `add` that it reads and the batch normalization that `add` reads;
// the other input of `add` becomes the side input. Only on a GPU.
Verdict FuseWithSide(Remapper& rule, const Node& root, const Node& add) {
  for (int i = 0; i < 2; ++i) {
    Node norm = add.input_node(i);
    if (!IsNorm(norm) || add.input(i).index != 0) continue;
    if (!IsOn(rule.DeviceOf(norm), "GPU"))
      return rule.Refuse(
          "'{0}' is on {1}; a sum before a Relu is fused only on GPUs\n"
          "apply the Relu before the sum",
          norm.name(), QuotedDevice(norm.device()));
    Shape values = rule.ShapeOf(add.input(i)), side = rule.ShapeOf(add.input(1 - i));
    if (!values.known_rank() || !(values == side) || llvm::is_contained(values.dims(), kUnknownDim))
      return rule.Refuse(
          "'{0}' adds the shapes {1} and {2}: equal known shapes were expected\n"
          "make the shapes of the inputs known, such as with --batch or --shape",
          add.name(), values.ToString(), side.ToString());
    if (!rule.CanTake(root, add)) return rule.Refused();
    if (!IsFusableNorm(rule, root, norm)) continue;
    Fuse(rule, root, norm, add.input(1 - i));
    rule.Remove({add});
    return rule.Done();
  }
  return rule.NotMine();
}

Verdict FuseBatchNormRelu(Remapper& rule, const Node& root) {
  Node input = rule.Input(root, 0);
  if (!input) return rule.NotMine();
  if (IsAddOrAddV2(input) && input.num_inputs() == 2) return FuseWithSide(rule, root, input);
  if (!IsNorm(input) || root.input(0).index != 0) return rule.NotMine();
  if (!IsFusableNorm(rule, root, input)) return rule.Refused();
  Fuse(rule, root, input, {kNoNode, 0});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .after = "fuse_conv_batch_norm_activation",
     .name = "fuse_batch_norm_relu",
     .ops = {"Relu"},
     .help =
         "FusedBatchNorm and Relu become _FusedBatchNormEx, on a GPU also with a sum between them",
     .refuses = "a second reader of the values, a FusedBatchNorm that is fetched, fed or kept, "
                "control edges, dtypes and layouts without a fused kernel, channels that are not a "
                "multiple of 4, training on a GPU",
     .pattern = "(FusedBatchNorm|FusedBatchNormV2|FusedBatchNormV3)",
     .apply = FuseBatchNormRelu});

}  // namespace
}  // namespace grapnel::remapper
