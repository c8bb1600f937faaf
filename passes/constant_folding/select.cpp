// A Select on a condition that is the same everywhere.
//
//   Before:  true:Const, x, z -> SelectV2 -> y
//   After:   x -> Identity -> y, true, z -^-> Identity
//
//   Before:  true:Const, x:[2], z:[2,2] -> SelectV2 -> y
//   After:   x, "ConstantFolding/SelectV2-broadcastto_shape-1":Const [2,2] -> BroadcastTo -> y
//
// Refuses: a result of which the shape is not known, unless both sides are known to have the same.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool SimplifySelect(Folding& fold, const Node& node) {
  constexpr char kRule[] = "simplify_select";
  if (node.num_inputs() != 3) return false;
  bool all_true = fold.IsOnes(node.input(0));
  if (!all_true && !fold.IsZeros(node.input(0))) return false;
  int taken = all_true ? 1 : 2;
  Shape condition = fold.ShapeOf(node.input(0)), left = fold.ShapeOf(node.input(1)),
        right = fold.ShapeOf(node.input(2));
  bool is_scalar = condition.known_rank() && condition.rank() == 0;
  if (Folding::SameShape(left, right) && (is_scalar || Folding::SameShape(condition, left))) {
    Rewriting rewriting(fold, kRule, node);
    if (!rewriting) return false;
    fold.BecomeIdentity(node, taken);
    return true;
  }
  const Shape output = fold.edit.ShapeOf({node.id(), 0});
  if (!output.IsFullyKnown() ||
      fold.Exists(Folding::NameFor(node, "-broadcastto_shape-" + llvm::Twine(taken)))) {
    fold.edit.Refuse(kRule, node, "the shape of '{0}' is not known: {1}", node.name(),
                     output.ToString());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  fold.BecomeBroadcast(node, taken, output);
  return true;
}

}  // namespace grapnel::constant_folding
