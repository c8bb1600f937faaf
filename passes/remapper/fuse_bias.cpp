// A contraction takes its bias, and the activation after it.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> Relu -> y       After:  x, w, b -> _FusedConv2D
//   {fused_ops=[BiasAdd, Relu]} -> y
//
// Also MatMul, DepthwiseConv2dNative and Conv3D; and an Add of a tensor that has the shape of a
// bias.
//
// Refuses: a contraction that is fetched, read twice or without a CPU as its device; Tanh and
// Sigmoid after a convolution; LeakyRelu after a depthwise one; what IsFusable refuses.
#include "passes/remapper/remapper.h"

namespace grapnel {

bool FuseBias(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_bias";
  auto match = MatchBias(remap, kRule, root);
  if (!match || !IsFusable(remap, kRule, root, match->contraction) ||
      !remap.BeginWithoutGradient(kRule, root))
    return remap.stopped;
  const Node& contraction = match->contraction;
  Port inputs[] = {contraction.input(0), contraction.input(1), match->bias()};
  remap.Become(root, FusedOpOf(contraction), contraction.device(), inputs,
               FusedAttrsOf(remap, contraction, {"BiasAdd"}, 1));
  remap.EndRemoving({contraction});
  return true;
}

bool FuseBiasActivation(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_bias_activation";
  if (root.num_inputs() < 1) return false;
  Node bias_add = root.input_node(0);
  if (bias_add.op() != "BiasAdd" && !IsAdd(bias_add)) return false;
  auto match = MatchBias(remap, kRule, bias_add);
  if (!match || !remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, bias_add))
    return false;
  if (root.GetType("T") != bias_add.GetType("T")) return false;
  const Node& contraction = match->contraction;
  bool is_matmul = contraction.op() == "MatMul";
  if (!is_matmul && (root.op() == "Tanh" || root.op() == "Sigmoid")) {
    remap.edit.Refuse(kRule, root, "{0} is only fused with a MatMul, '{1}' is a {2}", root.op(),
                      contraction.name(), contraction.op());
    return false;
  }
  if (contraction.op() == "DepthwiseConv2dNative" && root.op() == "LeakyRelu") {
    remap.edit.Refuse(kRule, root,
                      "LeakyRelu is not fused with a depthwise convolution such as '{0}'",
                      contraction.name());
    return false;
  }
  if (!IsFusable(remap, kRule, root, contraction) || !remap.BeginWithoutGradient(kRule, root))
    return remap.stopped;
  Port inputs[] = {contraction.input(0), contraction.input(1), match->bias()};
  std::string activation = root.op().str();
  RemapAttrs attrs = FusedAttrsOf(remap, contraction, {"BiasAdd", activation}, 1, 0, root);
  remap.Become(root, FusedOpOf(contraction), contraction.device(), inputs, attrs);
  remap.EndRemoving({bias_add, contraction});
  return true;
}

}  // namespace grapnel
