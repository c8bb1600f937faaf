// Writes tensors with a single repeated value as a constant of that value.
//
//   Before:  x:[2,3] -> ZerosLike -> y
//   After:   x -^-> ZerosLike:Const 0 -> y
//
//   Before:  dims:Const, v:Const -> Fill -> y
//   After:   dims, v -^-> Fill:Const v -> y
//
// Refuses: nodes that are fed; shapes that are not fully known; for ZerosLike and OnesLike, dtypes
// other than real numbers and bool; for Fill, strings, and inputs that are not constant; everything
// when experimental_disable_compressed_tensor_optimization is set.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

bool HasOneElementForm(DataType type) {
  return type == proto::DT_BOOL || IsInteger(type) || type == proto::DT_HALF ||
         type == proto::DT_BFLOAT16 || type == proto::DT_FLOAT || type == proto::DT_DOUBLE;
}

Verdict MaterializeFill(Folding& rule, const Node& node) {
  if (!rule.materialize_fills) return rule.NotMine();
  const Shape shape = rule.edit.ShapeOf({node.id(), 0});
  if (!shape.IsFullyKnown())
    return rule.Refuse(
        "the shape of '{0}' is not fully known: {1}\nmake the shapes of the inputs known",
        node.name(), shape.ToString());
  if (node.op() == "Fill") {
    if (node.num_inputs() != 2 || !rule.IsConst(node.input(0))) return rule.NotMine();
    const Literal* value = rule.ConstantOf(node.input(1));
    if (!value || value->num_elements() != 1 || value->dtype() == proto::DT_STRING)
      return rule.NotMine();
    return rule.BecomeSplat(node, shape, *value);
  }
  DataType type = rule.TypeOf(node);
  if (!HasOneElementForm(type)) return rule.NotMine();
  return rule.BecomeSplat(node, shape, Literal::Scalar(type, node.op() == "OnesLike" ? 1 : 0));
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kValues,
     .after = "reduction_indices",
     .name = "materialize_fill",
     .ops = {"Fill", "ZerosLike", "OnesLike"},
     .help = "writes Fill, ZerosLike and OnesLike of known shape as a constant",
     .refuses =
         "nodes that are fed; shapes that are not fully known; for ZerosLike and OnesLike, dtypes "
         "other than real numbers and bool; for Fill, strings, and inputs that are not constant",
     .apply = MaterializeFill});

}  // namespace
}  // namespace grapnel::constant_folding
