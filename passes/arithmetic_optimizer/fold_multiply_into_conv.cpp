// A convolution of something scaled scales its weights instead: they are smaller and constant.
//
//   Before:  Conv2D(Transpose(x * 2), w)     After:  Conv2D(Transpose(x), w * 2)
//
// Refuses: weights that are no constant; a scale that is no constant scalar of their dtype; a
// product, or ops between, that are fetched, fed, kept or read elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified FoldMultiplyIntoConv(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "fold_multiply_into_conv";
  Node weights = arithmetic.Input(node, 1);
  if (!weights || weights.op() != "Const") return std::nullopt;
  std::string name =
      Arithmetic::NameFor(weights, "FoldMultiplyIntoConv", ("scaled_" + node.name()).str());
  if (arithmetic.Exists(name)) return std::nullopt;
  Node tail = arithmetic.TailOfOwnChain(
      node, [&](const Node& next) { return arithmetic.KeepsValue(next); });
  Node product = arithmetic.Input(tail, 0);
  if (!product || (product.op() != "Mul" && product.op() != "MulNoNan")) return std::nullopt;
  if (product.NumDataUses() != 1 || arithmetic.edit.IsPreserved(product)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed, kept or read elsewhere",
                           product.name());
    return std::nullopt;
  }
  int scale_at = 1;
  if (product.input_node(1).op() != "Const" && product.input_node(0).op() == "Const") scale_at = 0;
  Port scale = product.input(scale_at), input = product.input(1 - scale_at);
  const Literal* value = arithmetic.ConstantOf(scale);
  if (!value || !value->dims().empty() || value->dtype() != weights.GetType("dtype")) {
    arithmetic.edit.Refuse(kRule, node, "neither input of '{0}' is a constant scalar",
                           product.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(product);
  Node scaled = arithmetic.Make(name, product.op(), weights.device(), {node.input(1), scale});
  arithmetic.SetType(scaled, "T", weights.GetType("dtype"));
  arithmetic.ForwardControls(scaled, product);
  arithmetic.Enqueue(scaled);
  arithmetic.edit.SetInput(node, 1, {scaled.id(), 0});
  arithmetic.Enqueue(node);
  arithmetic.edit.SetInput(tail, 0, input);
  arithmetic.Enqueue(tail);
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
