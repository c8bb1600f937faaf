// Batch normalisation takes the Relu after it.
//
//   Before:  FusedBatchNormV3 bn -> Relu r -> y      After:  _FusedBatchNormEx bn
//   {activation_mode="Relu"} -> Identity r -> y
//
// Refuses: a second reader of the values; dtypes other than float and bfloat16; a fetched
// FusedBatchNorm; a GPU, where the choice depends on cuDNN.
#include "lib/ir/device_name.h"
#include "passes/remapper/remapper.h"

namespace grapnel {

bool FuseBatchNormRelu(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_batch_norm_relu";
  Node norm = root.num_inputs() > 0 ? root.input_node(0) : Node();
  if (!norm || !IsFusedBatchNorm(norm) || norm.num_inputs() != 5 || root.input(0).index != 0)
    return false;
  DataType type = norm.GetType("T");
  std::string format = norm.GetString("data_format");
  bool has_types = (type == proto::DT_FLOAT || type == proto::DT_BFLOAT16) &&
                   (norm.op() == "FusedBatchNorm" || norm.GetType("U") == proto::DT_FLOAT);
  if (!has_types || (format != "NHWC" && format != "NCHW") || IsOn(norm.device(), "GPU")) {
    remap.edit.Refuse(kRule, root, "'{0}' is of {1} in {2} on '{3}', which has no fused kernel",
                      norm.name(), DataTypeName(type), format, norm.device());
    return false;
  }
  if (!remap.HasNoControls(kRule, root) || !remap.HasNoControls(kRule, norm)) return false;
  int readers = 0;
  for (const Use& use : norm.UsesOf(0))
    readers += !remap.kinds.Is(remap.graph.node(use.node), kShapeOrRankOp);
  if (readers > 1 || remap.edit.IsPreserved(norm)) {
    remap.edit.Refuse(kRule, root, "'{0}' is fetched or read {1} times", norm.name(), readers);
    return false;
  }
  if (!remap.BeginWithoutGradient(kRule, root)) return remap.stopped;
  RemapAttrs attrs = {{"activation_mode", attr::String("Relu")}, {"num_side_inputs", attr::Int(0)}};
  for (const char* key : {"T", "is_training", "data_format", "epsilon", "exponential_avg_factor"})
    CopyAttr(&attrs, norm, key);
  attrs.emplace_back(
      "U", attr::Type(norm.op() == "FusedBatchNorm" ? proto::DT_FLOAT : norm.GetType("U")));
  remap.Become(norm, "_FusedBatchNormEx", norm.device(), norm.inputs(), attrs);
  remap.Become(root, "Identity", norm.device(), Port{norm.id(), 0}, {{"T", attr::Type(type)}});
  remap.EndRemoving({});
  return true;
}

}  // namespace grapnel
