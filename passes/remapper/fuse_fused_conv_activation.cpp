// Fuses a fused convolution with the LeakyRelu or Mish after it.
//
//   Before:  x, w, b -> _FusedConv2D {fused_ops=[BiasAdd]} -> LeakyRelu -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd, LeakyRelu]} -> y
//
// Refuses: a convolution that has an activation already, or that is fetched, read from outside or
// has control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseFusedConvActivation(Remapper& rule, const Node& root) {
  Node conv = rule.Input(root, 0);
  if (!conv || (conv.op() != "_FusedConv2D" && conv.op() != "_FusedConv3D")) return rule.NotMine();
  auto ops_attr = conv.FindAttr("fused_ops");
  auto ops = ops_attr ? ops_attr->AsStrings() : std::nullopt;
  if (!ops) return rule.NotMine();
  for (llvm::StringRef op : *ops) {
    if (op != "BiasAdd" && op != "Add" && op != "FusedBatchNorm")
      return rule.Refuse("'{0}' has the activation {1}\nuse one activation", conv.name(), op);
  }
  if (!rule.HasNoControls(root) || !rule.CanTake(root, conv) || !rule.HasOneDnn(root))
    return rule.Refused();
  bool is_leaky = root.op() == "LeakyRelu";
  RemapAttrs attrs;
  for (const auto& [key, value] : conv.Attrs()) {
    if (key != "fused_ops" && (key != "leakyrelu_alpha" || !is_leaky))
      attrs.emplace_back(key.str(), value.bytes().str());
  }
  ops->push_back(is_leaky ? "LeakyRelu" : "Mish");
  attrs.emplace_back("fused_ops", attr::Strings(*ops));
  if (auto alpha = root.Attr("alpha"); alpha && is_leaky)
    attrs.emplace_back("leakyrelu_alpha", alpha->bytes().str());
  rule.Become(root, conv.op(), conv.device(), conv.inputs(), attrs);
  rule.Remove({conv});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_bias_add_activation",
              .name = "fuse_fused_conv_activation",
              .ops = {"LeakyRelu", "_MklFusedMish"},
              .help = "fuses a fused convolution with the LeakyRelu or Mish that follows",
              .refuses = "convolutions that have an activation, are fetched, fed, kept or read "
                         "twice, control edges",
              .pattern = "(_FusedConv2D|_FusedConv3D)",
              .apply = FuseFusedConvActivation});

}  // namespace
}  // namespace grapnel::remapper
