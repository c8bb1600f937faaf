// Removes a Squeeze of a tensor that has no dimension of size 1.
//
//   Before:  x:[2,3] -> Squeeze -> y                    After:  x -> Identity -> y
//
// Refuses: unknown dimensions, and dimensions of size 0, as TensorFlow does.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveSqueeze(Folding& rule, const Node& node) {
  if (node.num_inputs() != 1) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  // A dimension of size 0 cannot be squeezed either, but Grappler requires more than 1.
  if (shape.IsFullyKnown() && llvm::is_contained(shape.dims(), 1))
    return rule.NotMine("'{0}' has a dimension of size 1", node.input_node(0).name());
  if (!shape.known_rank() || !llvm::all_of(shape.dims(), [](int64_t dim) { return dim > 1; }))
    return rule.NotMine(
        "'{0}' is not known to have only dimensions above 1\nmake the shapes of the inputs known",
        node.input_node(0).name());
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_pad",
              .name = "remove_squeeze",
              .ops = {"Squeeze"},
              .help = "removes the squeeze of a tensor without dimensions of size 1",
              .refuses = "unknown dimensions, and dimensions of size 0",
              .apply = RemoveSqueeze});

}  // namespace
}  // namespace grapnel::constant_folding
