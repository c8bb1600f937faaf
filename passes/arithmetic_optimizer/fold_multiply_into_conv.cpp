// Scales the weights of a convolution instead of its input: the weights are smaller and constant.
//
//   Before:  Conv2D(Transpose(x * 2), w)     After:  Conv2D(Transpose(x), w * 2)
//
// Refuses: weights that are not constant; a scale that is not a constant scalar of their dtype; a
// product, or ops between the product and the convolution, that are fetched, fed, kept or read
// elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict FoldMultiplyIntoConv(Arithmetic& rule, const Node& node) {
  Node weights = rule.Input(node, 1);
  if (!weights) return rule.NotMine();
  if (weights.op() != "Const")
    return rule.NotMine("the weights '{0}' are not a constant\nmake them constant: --freeze",
                        weights.name());
  std::string name =
      Arithmetic::NameFor(weights, "FoldMultiplyIntoConv", ("scaled_" + node.name()).str());
  if (rule.Exists(name)) return rule.NotMine();
  Node tail = rule.TailOfOwnChain(node, [&](const Node& next) { return rule.KeepsValue(next); });
  Node product = rule.Input(tail, 0);
  if (!product || (product.op() != "Mul" && product.op() != "MulNoNan")) return rule.NotMine();
  if (!rule.IsOwn(product)) return rule.Refused();
  int scale_at = 1;
  if (product.input_node(1).op() != "Const" && product.input_node(0).op() == "Const") scale_at = 0;
  Port scale = product.input(scale_at), input = product.input(1 - scale_at);
  const Literal* value = rule.ConstantOf(scale);
  if (!value || !value->dims().empty() || value->dtype() != weights.GetType("dtype"))
    return rule.Refuse(
        "neither input of '{0}' is a constant scalar of the filter's dtype\n"
        "multiply by one constant number, of the filter's dtype",
        product.name());
  rule.edit.Used(product);
  Node scaled = rule.Make(name, product.op(), weights.device(), {node.input(1), scale});
  rule.SetType(scaled, "T", weights.GetType("dtype"));
  rule.ForwardControls(scaled, product);
  rule.edit.SetInput(node, 1, {scaled.id(), 0});
  rule.edit.SetInput(tail, 0, input);
  rule.Enqueue({scaled, node, tail});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "fold_conjugate_into_transpose",
              .name = "fold_multiply_into_conv",
              .ops = {"Conv2D", "Conv3D"},
              .help = "scales the weights of a convolution instead of its input",
              .refuses = "weights that are not constant; scales that are not constant scalars of "
                         "their dtype; a product, or ops between it and the convolution, that are "
                         "fetched, fed, kept or read elsewhere",
              .pattern = "(Mul|MulNoNan(_, Const), Const)",
              .apply = FoldMultiplyIntoConv});

}  // namespace
}  // namespace grapnel::arithmetic
