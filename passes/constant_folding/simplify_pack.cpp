// A Pack of one tensor becomes ExpandDims.
//
//   Before:  x -> Pack(axis=1) -> y
//   After:   x, "ConstantFolding/Pack_const_axis":Const 1 -> ExpandDims -> y
//
// Refuses: a tensor that is fed.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict SimplifyPack(Folding& rule, const Node& node) {
  if (node.num_inputs() != 1 || rule.edit.IsFed(node.input_node(0))) return rule.NotMine();
  std::string name = Folding::NameFor(node, "_const_axis");
  if (rule.Exists(name)) return rule.NotMine();
  Literal axis = Literal::Scalar(proto::DT_INT32, static_cast<double>(node.GetInt("axis")));
  Node made =
      rule.edit.AddConstant(name, axis, node.device(), rule.Anchor(node.input(0), /*find=*/false));
  rule.edit.AddInput(node, {made.id(), 0});
  rule.edit.SetOp(node, "ExpandDims");
  rule.edit.RemoveAttr(node, "axis");
  rule.edit.RemoveAttr(node, "N");
  rule.SetType(node, "Tdim", proto::DT_INT32);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_squeeze",
              .name = "simplify_pack",
              .ops = {"Pack"},
              .help = "a Pack of one tensor becomes ExpandDims",
              .refuses = "a tensor that is fed",
              .apply = SimplifyPack});

}  // namespace
}  // namespace grapnel::constant_folding
