// Removes a ReverseV2 of dimensions of size 1.
//
//   Before:  x:[1,3], [0]:Const -> ReverseV2 -> y
//   After:   x -> Identity -> y, [0] -^-> Identity
//
// Refuses: axes that are not constant; unknown dimensions; Reverse, as TensorFlow does.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveReverse(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  std::optional<std::vector<int64_t>> axes = rule.ConstantInts(node, 1);
  if (!axes) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  if (!shape.known_rank())
    return rule.Refuse("the rank of '{0}' is not known\nmake the shapes of the inputs known",
                       node.input_node(0).name());
  for (int64_t axis : *axes) {
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank() || shape.dim(static_cast<int>(axis)) != 1)
      return rule.NotMine("'{0}' reverses axis {1}, which is not known to have the size 1",
                          node.name(), axis);
  }
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_random_shuffle",
              .name = "remove_reverse",
              .ops = {"ReverseV2"},
              .help = "removes the reversal of dimensions of size 1",
              .refuses = "axes that are not constant; unknown dimensions",
              .pattern = "(_, Const)",
              .apply = RemoveReverse});

}  // namespace
}  // namespace grapnel::constant_folding
