// Conv2D takes its bias or batch normalisation and the Swish after it.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> t;  t * Sigmoid(t) -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd, _MklSwish]} -> y
//
// Refuses: training mode; nodes off the CPU; inner nodes that are fetched, read from outside or
// have control edges.
#include "lib/ir/device_name.h"
#include "passes/remapper/remapper.h"

namespace grapnel {

bool FuseConvSwish(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_conv_swish";
  if (root.num_inputs() != 2) return false;
  Node sigmoid = root.input_node(0), middle = root.input_node(1);
  if (sigmoid.op() != "Sigmoid") std::swap(sigmoid, middle);
  if (sigmoid.op() != "Sigmoid" || sigmoid.input(0) != Port{middle.id(), 0}) return false;
  bool is_bias = middle.op() == "BiasAdd";
  if ((!is_bias && !IsFusedBatchNorm(middle)) || middle.input_node(0).op() != "Conv2D")
    return false;
  Node conv = middle.input_node(0);
  DataType type = root.GetType("T");
  if (!IsOn(root.device(), "CPU") || (type != proto::DT_FLOAT && type != proto::DT_BFLOAT16)) {
    remap.edit.Refuse(kRule, root,
                      "'{0}' is of {1} on '{2}', float or bfloat16 on a CPU was expected",
                      root.name(), DataTypeName(type), root.device());
    return false;
  }
  bool has_types = is_bias || middle.op() == "FusedBatchNorm" ||
                   (middle.GetType("U") == proto::DT_FLOAT && type == proto::DT_FLOAT);
  if (!is_bias && (middle.GetBool("is_training", true) || !has_types)) {
    remap.edit.Refuse(kRule, root, "'{0}' is not a float batch normalisation for inference",
                      middle.name());
    return false;
  }
  if (Remapper::HasControls(middle) || middle.uses().size() != 2 ||
      remap.edit.IsPreserved(middle)) {
    remap.edit.Refuse(kRule, root, "'{0}' is fetched, read from outside or has control edges",
                      middle.name());
    return false;
  }
  if (!remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, sigmoid) ||
      !remap.CanTake(kRule, root, conv))
    return false;
  if (!IsFusable(remap, kRule, root, conv) || !remap.Begin(kRule, root)) return remap.stopped;
  llvm::SmallVector<Port, 6> inputs = {conv.input(0), conv.input(1)};
  for (int i = 1; i < (is_bias ? 2 : 5); ++i) inputs.push_back(middle.input(i));
  RemapAttrs attrs =
      FusedAttrsOf(remap, conv, {is_bias ? "BiasAdd" : "FusedBatchNorm", "_MklSwish"},
                   is_bias ? 1 : 4, is_bias ? 0 : middle.GetFloat("epsilon"));
  remap.Become(root, "_FusedConv2D", root.device(), inputs, attrs);
  remap.EndRemoving({sigmoid, middle, conv});
  return true;
}

}  // namespace grapnel
