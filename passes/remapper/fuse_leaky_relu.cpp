// Fuses a LeakyRelu that is written as separate ops.
//
//   Before:  Maximum(x, alpha * x) -> y      After:  LeakyRelu(x) {alpha} -> y
//
// Refuses: an alpha that is not one constant from 0 to 1 (TensorFlow takes larger ones too, which
// changes the result); a product that is fetched, read from outside or has control edges.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

Verdict FuseLeakyRelu(Remapper& rule, const Node& root) {
  std::optional<float> alpha;
  auto source = [&](const Node& product) -> Port {
    for (int i = 0; i < 2 && product.num_inputs() == 2; ++i) {
      alpha = rule.ScalarOf(product.input(i));
      if (alpha) return product.input(1 - i);
    }
    return {};
  };
  Node mul = FindMadeFromOther(root, "Mul", source);
  if (!mul) return rule.NotMine();
  if (*alpha > 1) {
    return rule.Refuse(
        "the slope {0} of '{1}' is above 1; unlike TensorFlow, which makes a LeakyRelu "
        "and so computes the minimum instead of the maximum\nuse a slope from 0 to 1",
        *alpha, mul.name());
  }
  if (!(*alpha >= 0))
    return rule.Refuse("the slope {0} of '{1}' is not between 0 and 1\nuse a slope from 0 to 1",
                       *alpha, mul.name());
  if (!IsFloating(root.GetType("T")))
    return rule.NotMine("'{0}' has dtype {1}\ncompute it in a floating-point dtype", root.name(),
                        DataTypeName(root.GetType("T")));
  if (!rule.WaitsForNone(root) || !rule.CanTake(root, mul) || !rule.HasOneDnn(root))
    return rule.Refused();
  RemapAttrs attrs = {{"alpha", attr::Float(*alpha)}};
  CopyAttr(&attrs, root, "T");
  rule.Become(root, "LeakyRelu", root.device(), {source(mul)}, attrs);
  rule.Remove({mul});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_conv_swish",
              .name = "fuse_leaky_relu",
              .ops = {"Maximum"},
              .help = "Maximum(x, alpha * x) becomes LeakyRelu",
              .refuses = "slopes that are not constants from 0 to 1, a product that is fetched, "
                         "read from outside or has control edges",
              .pattern = "(x, Mul(x, Const))",
              .apply = FuseLeakyRelu});

}  // namespace
}  // namespace grapnel::remapper
