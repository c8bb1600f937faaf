// Divides by a constant by multiplying with its reciprocal, which then folds.
//
//   Before:  x, c:Const -> RealDiv -> y
//   After:   c -> "ConstantFolding/RealDiv_recip":Reciprocal
//            x, recip -> Mul -> y                       (Xdivy: MulNoNan(recip, x))
//
// Refuses: Div of integers, which rounds.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool ReduceDivision(Folding& fold, const Node& node) {
  constexpr char kRule[] = "reciprocal_of_constant";
  if (node.num_inputs() != 2 || !fold.IsConst(node.input(1))) return false;
  DataType type = node.GetType("T");
  if (type == proto::DT_INVALID) return false;
  if (node.op() == "Div" && !IsFloating(type) && !IsComplex(type)) {
    fold.edit.Refuse(kRule, node, "the division of {0} in '{1}' rounds", DataTypeName(type),
                     node.name());
    return false;
  }
  std::string name = Folding::NameFor(node, "_recip");
  if (fold.Exists(name)) {
    fold.edit.Refuse(kRule, node, "there is a node '{0}' already", name);
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  Port x = node.input(0), c = node.input(1);
  Node reciprocal = fold.edit.AddNode(name, "Reciprocal", node.device());
  fold.edit.SetAttr(reciprocal, "T", attr::Type(type));
  fold.edit.AddInput(reciprocal, c);
  bool no_nan = node.op() == "Xdivy";
  Port factor = {reciprocal.id(), 0};
  fold.edit.SetInput(node, 0, no_nan ? factor : x);
  fold.edit.SetInput(node, 1, no_nan ? x : factor);
  fold.edit.SetOp(node, no_nan ? "MulNoNan" : "Mul");
  return true;
}

}  // namespace grapnel::constant_folding
