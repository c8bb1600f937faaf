// Fuses a contraction with its bias, the residual that is added, and the activation after that. Two
// rules: one is applied to the sum, the other to the activation.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> AddV2(r) -> Relu -> y
//   After:   x, w, b, r -> _FusedConv2D {fused_ops=[BiasAdd, Add, Relu], num_args=2} -> y
//
// Refuses: sums that may broadcast; AddN of more than two; depthwise convolutions; Tanh and
// Sigmoid; any activation after a MatMul; nodes off the CPU; dtypes other than float and bfloat16.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

struct Residual {
  BiasedContraction base;
  int port;  // input of the Add that comes from the contraction
};

// True if the ops are those of a contraction with a bias. Checked before MatchBias, because
// MatchBias records refusals, which are only for nodes that match the pattern.
bool HasFormOfBias(const Node& node) {
  if (node.num_inputs() < 2) return false;
  bool is_first = IsContraction(node.input_node(0));
  return (node.op() == "BiasAdd" && is_first) ||
         (IsAddOrAddV2(node) && (is_first || IsContraction(node.input_node(1))));
}

// True if the two terms are known to have the same shape, as those of an AddN always have;
// otherwise records a refusal at `add`.
bool AddsEqualShapes(Remapper& rule, const Node& add) {
  if (add.op() == "AddN") return true;
  Shape a = rule.ShapeOf(add.input(0)), b = rule.ShapeOf(add.input(1));
  if (a.known_rank() && a == b && !llvm::is_contained(a.dims(), kUnknownDim)) return true;
  rule.RefuseAt(add,
                "'{0}' adds the shapes {1} and {2}: equal known shapes were expected\n"
                "make the shapes of the inputs known, such as with --batch or --shape, or a "
                "signature with a fixed batch",
                add.name(), a.ToString(), b.ToString());
  return false;
}

// Matches the residual sum `add`; records refusals at `add`, or at the bias before it.
std::optional<Residual> MatchResidual(Remapper& rule, const Node& add) {
  if ((!IsAddOrAddV2(add) && add.op() != "AddN") || add.num_inputs() != 2) return std::nullopt;
  if (!HasFormOfBias(add.input_node(0)) && !HasFormOfBias(add.input_node(1))) return std::nullopt;
  if (!rule.HasNoControls(add) || !AddsEqualShapes(rule, add) || !rule.IsFloatOnCpu(add))
    return std::nullopt;
  for (int port = 0; port < 2; ++port) {
    Node bias_add = add.input_node(port);
    if (!HasFormOfBias(bias_add)) continue;
    auto base = MatchBias(rule, bias_add);
    if (!base || bias_add.GetType("T") != add.GetType("T") || !rule.CanTake(add, bias_add))
      continue;
    if (base->contraction.op() == "DepthwiseConv2dNative") {
      rule.NotMine("'{0}' is a depthwise convolution\nuse a Conv2D or a MatMul",
                   base->contraction.name());
      continue;
    }
    if (IsFusable(rule, add, base->contraction)) return Residual{*base, port};
  }
  return std::nullopt;
}

// Turns `root` into the fused op, with the slope of a LeakyRelu. (TensorFlow 2.21 forgets it, so
// that the fused op uses 0.2.)
void Fuse(Remapper& rule, const Node& root, const Node& add, const Residual& match,
          llvm::ArrayRef<llvm::StringRef> fused_ops) {
  const Node& contraction = match.base.contraction;
  Port inputs[] = {contraction.input(0), contraction.input(1), match.base.bias(),
                   add.input(1 - match.port)};
  rule.Become(root, FusedOpOf(contraction), contraction.device(), inputs,
              FusedAttrsOf(rule, contraction, fused_ops, 2, 0, root));
}

Verdict FuseBiasAdd(Remapper& rule, const Node& root) {
  auto match = MatchResidual(rule, root);
  if (!match) return rule.NotMine();
  if (!rule.HasOneDnn(root)) return rule.Refused();
  Fuse(rule, root, root, *match, {"BiasAdd", "Add"});
  rule.Remove({match->base.bias_add, match->base.contraction});
  return rule.Done();
}

Verdict FuseBiasAddActivation(Remapper& rule, const Node& root) {
  Node add = rule.Input(root, 0);
  if (!add) return rule.NotMine();
  auto match = MatchResidual(rule, add);
  if (!match) return rule.NotMine();
  if (!rule.HasNoControls(root) || !rule.CanTake(root, add)) return rule.Refused();
  const Node& contraction = match->base.contraction;
  if (contraction.op() == "MatMul")
    return rule.Refuse(
        "{0} after a residual sum is not fused with the MatMul '{1}'\n"
        "apply it before the sum",
        root.op(), contraction.name());
  if (root.GetType("T") != add.GetType("T"))
    return rule.Refuse("'{0}' and '{1}' have different dtypes\nuse one dtype", root.name(),
                       add.name());
  if (!IsOn(rule.DeviceOf(root), "CPU"))
    return rule.Refuse("'{0}' is on {1}, a CPU was expected (see --device)\nplace it on a CPU",
                       root.name(), QuotedDevice(root.device()));
  if (!rule.HasOneDnn(root) || !rule.MayLoseNan(root)) return rule.Refused();
  Fuse(rule, root, add, *match, {"BiasAdd", "Add", root.op()});
  rule.Remove({add, match->base.bias_add, contraction});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .after = kFirst,
     .name = "fuse_bias_add_activation",
     .ops = {"Relu", "Relu6", "Elu", "LeakyRelu"},
     .help = "a contraction, its bias, the residual and the activation become one op",
     .refuses = "sums of shapes that are not known to be equal, MatMul and depthwise "
                "convolutions, inner nodes that are fetched or read elsewhere, control "
                "edges, nodes off the CPU, dtypes other than float and bfloat16",
     .pattern = "(Add|AddV2|AddN(BiasAdd|Add|AddV2(Conv2D|DepthwiseConv2dNative|MatMul|Conv3D)))",
     .apply = FuseBiasAddActivation});

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_fused_conv_activation",
              .name = "fuse_bias_add",
              .ops = {"Add", "AddV2", "AddN"},
              .help = "a contraction, its bias and the residual that is added become one op",
              .refuses = "sums of shapes that are not known to be equal, depthwise convolutions, "
                         "inner nodes that are fetched or read elsewhere, control edges, nodes off "
                         "the CPU, dtypes other than float and bfloat16",
              .pattern = kAfterBias,
              .apply = FuseBiasAdd});

}  // namespace
}  // namespace grapnel::remapper
