// A sum of equal terms.
//
//   Before:  AddN(x, x, x) -> y     After:  "..._Const_y":Const 3 * x -> y
//   Before:  AddN(x) -> y           After:  x -> y
//
// Refuses: variants, and dtypes that a number cannot be written in; a sum of one that waits for
// something.
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified SimplifyAggregation(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "simplify_aggregation";
  DataType type = node.GetType("T");
  if (node.num_inputs() == 0 || !arithmetic.IsAggregate(node) || type == proto::DT_VARIANT)
    return std::nullopt;
  if (node.num_inputs() == 1 && node.num_controls() == 0) {
    if (!arithmetic.Begin(kRule, node)) return std::nullopt;
    return node.input(0);
  }
  for (int i = 1; i < node.num_inputs(); ++i) {
    if (node.input(i) != node.input(0)) return std::nullopt;
  }
  std::string const_name = Arithmetic::NameFor(node, "SimplifyAggregation", "Const");
  std::string mul_name = Arithmetic::NameFor(node, "SimplifyAggregation", "Mul");
  if (arithmetic.Exists(const_name) || arithmetic.Exists(mul_name)) return std::nullopt;
  if (!IsNumeric(type)) {
    arithmetic.edit.Refuse(kRule, node, "there is no number of dtype {0}", DataTypeName(type));
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  Node count = arithmetic.edit.AddConstant(const_name, Literal::Scalar(type, node.num_inputs()),
                                           node.device(), arithmetic.Anchor(node.input(0)));
  arithmetic.Enqueue(count);
  Node product =
      arithmetic.Make(mul_name, "Mul", node.device(), {Port{count.id(), 0}, node.input(0)});
  arithmetic.SetType(product, "T", type);
  arithmetic.ForwardControls(product, node);
  return By(product);
}

}  // namespace grapnel::arithmetic
