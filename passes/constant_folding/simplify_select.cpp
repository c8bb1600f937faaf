// Replaces a Select on a condition that is the same everywhere with the selected input.
//
//   Before:  true:Const, x, z -> SelectV2 -> y
//   After:   x -> Identity -> y, true, z -^-> Identity
//
//   Before:  true:Const, x:[2], z:[2,2] -> SelectV2 -> y
//   After:   x, "ConstantFolding/SelectV2-broadcastto_shape-1":Const [2,2] -> BroadcastTo -> y
//
// Refuses: a result of unknown shape, unless both sides are known to have the same shape, and the
// condition to be a scalar or to have that shape, too.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict SimplifySelect(Folding& rule, const Node& node) {
  if (node.num_inputs() != 3) return rule.NotMine();
  bool all_true = rule.IsOnes(node.input(0));
  if (!all_true && !rule.IsZeros(node.input(0)))
    return rule.NotMine("the condition '{0}' is not constant, or is true and false",
                        node.input_node(0).name());
  int taken = all_true ? 1 : 2;
  Shape condition = rule.ShapeOf(node.input(0)), left = rule.ShapeOf(node.input(1)),
        right = rule.ShapeOf(node.input(2));
  bool is_scalar = condition.known_rank() && condition.rank() == 0;
  if (Folding::SameShape(left, right) && (is_scalar || Folding::SameShape(condition, left)))
    return rule.BecomeIdentity(node, taken);
  const Shape output = rule.edit.ShapeOf({node.id(), 0});
  if (!output.IsFullyKnown())
    return rule.Refuse(
        "the shape of '{0}' is not fully known: {1}\nmake the shapes of the inputs known",
        node.name(), output.ToString());
  std::string name = Folding::NameFor(node, "-broadcastto_shape-" + llvm::Twine(taken));
  if (rule.Exists(name)) return rule.Refuse("node '{0}' already exists\nrename it", name);
  return rule.BecomeBroadcast(node, taken, output);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "simplify_case",
              .name = "simplify_select",
              .ops = {"Select", "SelectV2"},
              .help = "a Select on a uniform condition becomes the selected input",
              .refuses = "results of unknown shape, unless both sides have the same shape and the "
                         "condition has it too or is a scalar",
              .pattern = "(Const)",
              .apply = SimplifySelect});

}  // namespace
}  // namespace grapnel::constant_folding
