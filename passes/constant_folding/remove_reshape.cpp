// Removes a Reshape to the tensor's own shape.
//
//   Before:  x:[2,3], [2,3]:Const -> Reshape -> y
//   After:   x -> Identity -> y, [2,3] -^-> Identity
//
// Refuses: requested shapes that are not constant; an input shape that is not fully known.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveReshape(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || !node.FindAttr("T")) return rule.NotMine();
  std::optional<std::vector<int64_t>> wanted = rule.ConstantInts(node, 1);
  if (!wanted) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  if (!shape.IsFullyKnown()) {
    return rule.Refuse(
        "the shape of '{0}' is not fully known: {1}\nmake the shapes of the inputs known",
        node.input_node(0).name(), shape.ToString());
  }
  bool is_same = shape.rank() == static_cast<int>(wanted->size());
  for (int i = 0; is_same && i < shape.rank(); ++i)
    is_same = (*wanted)[i] == -1 || (*wanted)[i] == shape.dim(i);
  if (!is_same)
    return rule.NotMine("'{0}' makes another shape than that of '{1}'", node.name(),
                        node.input_node(0).name());
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "simplify_reduction",
     .name = "remove_reshape",
     .ops = {"Reshape"},
     .help = "removes a reshape to the same shape",
     .refuses = "requested shapes that are not constant; input shapes that are not fully known",
     .pattern = "(_, Const)",
     .apply = RemoveReshape});

}  // namespace
}  // namespace grapnel::constant_folding
