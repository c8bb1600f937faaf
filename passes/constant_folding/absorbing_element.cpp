// Folds arithmetic with a constant that determines the result, whatever the other operand is.
//
//   Before:  x:int32[2,2], 0 -> Mul -> y          (MatMul, LogicalAnd alike)
//   After:   x, 0 -^-> Mul:Const 0 -> y
//
//   Before:  x:bool[2], true -> LogicalOr -> y
//   After:   x, true -^-> LogicalOr:Const true -> y
//
// Refuses: dtypes other than integers and bool, such as floating point, where 0 * NaN is NaN;
// 0 / x, unless constant_folding is AGGRESSIVE; a result whose shape is not known in full, unless
// it is that of the zeros (in a Mul, LogicalAnd or division).
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// Replaces a result whose shape is not fully known, but equals that of the input `zeros`, with that
// input.
Verdict ForwardZeros(Folding& rule, const Node& node, int zeros) {
  Shape zero = rule.InputShape(node, zeros), other = rule.InputShape(node, 1 - zeros);
  if (!Folding::BroadcastsInto(other, zero))
    return rule.Refuse(
        "'{0}' is not known to have the shape of '{1}'\nmake the shapes of the inputs known",
        node.name(), node.input_node(zeros).name());
  return rule.BecomeIdentity(node, zeros);
}

Verdict SimplifyAbsorbing(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || !rule.KnowsInputs(node)) return rule.NotMine();
  bool is_or = node.op() == "LogicalOr",
       is_division = node.op().ends_with("Div") || node.op() == "Xdivy";
  bool is_product = node.op() == "Mul" || node.op() == "MulNoNan" || node.op() == "LogicalAnd";
  if (is_division && !rule.aggressive) return rule.NotMine();  // 0 / x may divide by zero
  auto decides = [&](int i) {
    return is_or ? rule.IsOnes(node.input(i)) : rule.IsZeros(node.input(i));
  };
  bool x = decides(0), y = !is_division && decides(1);
  if (!x && !y) return rule.NotMine();
  DataType type = rule.TypeOf(node);
  if (!IsInteger(type) && type != proto::DT_BOOL) {
    return rule.Refuse("'{1}' has dtype {0} and may contain NaN\ncompute it in integers",
                       DataTypeName(type), node.input_node(x ? 1 : 0).name());
  }
  const Shape output = rule.edit.ShapeOf({node.id(), 0});
  if (output.IsFullyKnown())
    return rule.BecomeSplat(node, output, Literal::Scalar(type, is_or ? 1 : 0));
  if (!is_product && !is_division) return rule.NotMine();
  return ForwardZeros(rule, node, x ? 0 : 1);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "neutral_element",
              .name = "absorbing_element",
              .ops = {"LogicalOr", "Mul", "MulNoNan", "LogicalAnd", "MatMul", "SparseMatMul",
                      "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Div", "RealDiv",
                      "TruncateDiv", "Xdivy"},
              .help = "x * 0 for integers, true or x and the like become the constant",
              .refuses = "dtypes other than integers and bool, since 0 * NaN is NaN; 0 / x unless "
                         "AGGRESSIVE; results of unknown shape, unless it is that of the zeros",
              .apply = SimplifyAbsorbing});

}  // namespace
}  // namespace grapnel::constant_folding
