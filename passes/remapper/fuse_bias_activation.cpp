// Fuses a contraction with its bias and the activation after it.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> Relu -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd, Relu]} -> y
//
// Also MatMul, DepthwiseConv2dNative and Conv3D; and an Add of a tensor that has the shape of a
// bias.
//
// Refuses: a contraction that is fetched, read twice or not on a CPU (on a GPU, only Conv2D with
// Relu fuses); Tanh and Sigmoid after a convolution; LeakyRelu after a depthwise convolution;
// contractions for which IsFusable (remapper.h) is false.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// True if there is a kernel of the contraction with this activation; otherwise records a refusal.
bool TakesActivation(Remapper& rule, const Node& contraction, llvm::StringRef activation) {
  if (contraction.op() != "MatMul" && (activation == "Tanh" || activation == "Sigmoid"))
    return rule.Fails(
        "{0} is only fused with a MatMul, '{1}' is a {2}\n"
        "use Relu, Relu6, Elu or LeakyRelu after a convolution",
        activation, contraction.name(), contraction.op());
  if (contraction.op() == "DepthwiseConv2dNative" && activation == "LeakyRelu")
    return rule.Fails(
        "LeakyRelu is not fused with a depthwise convolution such as '{0}'\n"
        "use Relu, Relu6 or Elu",
        contraction.name());
  return true;
}

// True if the fused kernels support the activation. Without oneDNN these are Relu, Relu6, LeakyRelu
// and Elu; Tanh and Sigmoid need oneDNN.
bool HasKernelFor(Remapper& rule, const Node& activation) {
  bool is_smooth = activation.op() == "Tanh" || activation.op() == "Sigmoid";
  return !is_smooth || rule.HasOneDnn(activation);
}

Verdict FuseBiasActivation(Remapper& rule, const Node& root) {
  Node bias_add = rule.Input(root, 0);
  if (!bias_add || (bias_add.op() != "BiasAdd" && !IsAddOrAddV2(bias_add))) return rule.NotMine();
  auto match = MatchBias(rule, bias_add);
  if (!match) return rule.NotMine();
  if (!rule.HasNoControls(root) || !rule.CanTake(root, bias_add)) return rule.Refused();
  if (root.GetType("T") != bias_add.GetType("T"))
    return rule.NotMine("'{0}' and '{1}' have different dtypes\nuse one dtype", root.name(),
                        bias_add.name());
  const Node& contraction = match->contraction;
  if (!TakesActivation(rule, contraction, root.op()) || !IsFusable(rule, root, contraction) ||
      !rule.NeedsNoGradient(root) || !HasKernelFor(rule, root) || !rule.MayLoseNan(root))
    return rule.Refused();
  Port inputs[] = {contraction.input(0), contraction.input(1), match->bias()};
  RemapAttrs attrs = FusedAttrsOf(rule, contraction, {"BiasAdd", root.op()}, 1, 0, root);
  rule.Become(root, FusedOpOf(contraction), contraction.device(), inputs, attrs);
  rule.Remove({bias_add, contraction});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_bias",
              .name = "fuse_bias_activation",
              .ops = {"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"},
              .help = "a contraction, its bias and the activation that follows become one op",
              .refuses = "what fuse_bias refuses (but on a GPU Conv2D and Relu are fused), Tanh "
                         "and Sigmoid after a convolution, LeakyRelu after a depthwise one",
              .pattern = kAfterBias,
              .apply = FuseBiasActivation});

}  // namespace
}  // namespace grapnel::remapper
