// Removes a RandomShuffle of a scalar or of one row.
//
//   Before:  x:[1,3] -> RandomShuffle -> y              After:  x -> Identity -> y
//
// Refuses: an unknown number of rows.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveRandomShuffle(Folding& rule, const Node& node) {
  if (node.num_inputs() != 1) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  if (!shape.known_rank() || (shape.rank() > 0 && shape.dim(0) != 1)) return rule.NotMine();
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_transpose",
              .name = "remove_random_shuffle",
              .ops = {"RandomShuffle"},
              .help = "removes the shuffle of a scalar or of one row",
              .refuses = "an unknown number of rows",
              .apply = RemoveRandomShuffle});

}  // namespace
}  // namespace grapnel::constant_folding
