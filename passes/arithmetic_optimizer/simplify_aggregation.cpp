// Replaces a sum of equal terms with a product.
//
//   Before:  AddN(x, x, x) -> y     After:  "..._Const_<sum>":Const 3 * x -> y
//   Before:  AddN(x) -> y           After:  x -> y
//
// A sum of one term that waits for other nodes becomes a product with 1 that waits for them.
//
// Refuses: variants; for the product also other dtypes that are not numeric.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict SimplifyAggregation(Arithmetic& rule, const Node& node) {
  DataType type = node.GetType("T");
  if (node.num_inputs() == 0 || !rule.IsAggregate(node) || type == proto::DT_VARIANT)
    return rule.NotMine();
  if (node.num_inputs() == 1 && node.num_controls() == 0) return rule.ReplaceBy(node.input(0));
  for (int i = 1; i < node.num_inputs(); ++i) {
    if (node.input(i) != node.input(0)) return rule.NotMine();
  }
  std::string const_name = Arithmetic::NameFor(node, "SimplifyAggregation", "Const");
  std::string mul_name = Arithmetic::NameFor(node, "SimplifyAggregation", "Mul");
  if (rule.Exists(const_name) || rule.Exists(mul_name)) return rule.NotMine();
  if (!IsNumeric(type))
    return rule.Refuse("dtype {0} is not numeric\nuse a numeric dtype", DataTypeName(type));
  Node count = rule.edit.AddConstant(const_name, Literal::Scalar(type, node.num_inputs()),
                                     node.device(), rule.Anchor(node.input(0)));
  rule.Enqueue(count);
  Node product = rule.Make(mul_name, "Mul", node.device(), {{count.id(), 0}, node.input(0)});
  rule.SetType(product, "T", type);
  rule.ForwardControls(product, node);
  return rule.ReplaceBy(product);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "reorder_cast_like",
              .name = "simplify_aggregation",
              .ops = {"Add", "AddV2", "AddN", "AccumulateNV2", "RiscAdd"},
              .help = "x + x becomes 2 * x, and AddN(x) becomes x",
              .refuses = "variants and other dtypes that are not numeric",
              .pattern = "(x, x)",
              .apply = SimplifyAggregation});

}  // namespace
}  // namespace grapnel::arithmetic
