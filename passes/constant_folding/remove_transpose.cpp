// Removes a Transpose that moves nothing but dimensions of size 1.
//
//   Before:  x:[2,3], [0,1]:Const -> Transpose -> y
//   After:   x -> Identity -> y, [0,1] -^-> Identity
//
// Refuses: permutations that are not constant; unknown ranks, except for an empty permutation;
// ConjugateTranspose, as TensorFlow does.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveTranspose(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  std::optional<std::vector<int64_t>> permutation = rule.ConstantInts(node, 1);
  if (!permutation) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  int rank = static_cast<int>(permutation->size());
  // For an empty permutation there are no dimensions to move: the input is a scalar, or the op
  // fails.
  bool all_known = shape.known_rank() ? shape.rank() == rank : rank == 0;
  for (int i = 0; i < rank; ++i) {
    bool stays = (*permutation)[i] == i || (all_known && shape.dim(i) == 1);
    if (!stays)
      return rule.NotMine("'{0}' moves dimension {1}, which is not known to have the size 1",
                          node.name(), i);
  }
  if (!all_known) {
    return rule.Refuse(
        "the rank of '{0}' is not known to be {1}\nmake the shapes of the inputs known",
        node.input_node(0).name(), rank);
  }
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_split",
              .name = "remove_transpose",
              .ops = {"Transpose", "Shuffle"},
              .help = "removes a transpose that moves only dimensions of size 1",
              .refuses = "permutations that are not constant; unknown ranks",
              .pattern = "(_, Const)",
              .apply = RemoveTranspose});

}  // namespace
}  // namespace grapnel::constant_folding
