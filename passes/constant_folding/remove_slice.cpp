// Removes slices that take the whole tensor. Slice and StridedSlice are one rule.
//
//   Before:  x:[2,3], begin [0,0], size [-1,3] -> Slice -> y
//   After:   x -> Identity -> y, begin, size -^-> Identity
//
// Likewise StridedSlice with strides of 1 whose masks, or bounds, cover every dimension.
//
// Refuses: bounds that are not constant; new or dropped axes, and an ellipsis, which TensorFlow
// leaves alone; for StridedSlice an input shape that is not fully known.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

using Ints = std::vector<int64_t>;

// True if the slice takes the whole of each dimension, as it does for dimensions without bounds.
bool TakesAll(const Node& node, const Shape& shape, const Ints& begin, const Ints& end,
              const Ints& strides) {
  int64_t begin_mask = node.GetInt("begin_mask"), end_mask = node.GetInt("end_mask");
  int written = static_cast<int>(strides.size());
  if (written > shape.rank()) return false;
  for (int i = 0; i < written; ++i) {
    int64_t bit = int64_t{1} << i;
    bool from_start = (begin_mask & bit) || begin[i] == 0;
    bool to_end = (end_mask & bit) || end[i] == shape.dim(i);
    if (!from_start || !to_end || strides[i] != 1) return false;
  }
  return true;
}

Verdict RemovePlain(Folding& rule, const Node& node) {
  if (node.num_inputs() != 3) return rule.NotMine();
  std::optional<Ints> begin = rule.ConstantInts(node, 1), size = rule.ConstantInts(node, 2);
  if (!begin || !size || begin->size() != size->size()) return rule.NotMine();
  Shape shape = rule.ShapeOf(node.input(0));
  if (!shape.known_rank()) {
    // Grappler infers the rank of the input from the length of the bounds.
    shape = Shape::UnknownOfRank(static_cast<int>(begin->size()));
  }
  if (shape.rank() != static_cast<int>(begin->size())) return rule.NotMine();
  for (int i = 0; i < shape.rank(); ++i) {
    if ((*begin)[i] != 0) return rule.NotMine();
    if ((*size)[i] != -1 && (*size)[i] != shape.dim(i)) return rule.NotMine();
  }
  return rule.BecomeIdentity(node, 0);
}

Verdict RemoveStrided(Folding& rule, const Node& node) {
  if (node.num_inputs() != 4 || node.GetInt("new_axis_mask") != 0 ||
      node.GetInt("shrink_axis_mask") != 0)
    return rule.NotMine();
  std::optional<Ints> begin = rule.ConstantInts(node, 1), end = rule.ConstantInts(node, 2),
                      strides = rule.ConstantInts(node, 3);
  if (!begin || !end || !strides || begin->size() != strides->size() ||
      end->size() != strides->size() || strides->size() > 32) {
    return rule.NotMine();
  }
  Shape shape = rule.ShapeOf(node.input(0));
  if (!shape.IsFullyKnown()) {
    return rule.Refuse(
        "the shape of '{0}' is not fully known: {1}\nmake the shapes of the inputs known",
        node.input_node(0).name(), shape.ToString());
  }
  if (node.GetInt("ellipsis_mask") != 0)
    return rule.Refuse("'{0}' is written with an ellipsis\nwrite it without", node.name());
  if (!TakesAll(node, shape, *begin, *end, *strides))
    return rule.NotMine("'{0}' does not take all of '{1}'", node.name(), node.input_node(0).name());
  return rule.BecomeIdentity(node, 0);
}

Verdict RemoveSlice(Folding& rule, const Node& node) {
  return node.op() == "Slice" ? RemovePlain(rule, node) : RemoveStrided(rule, node);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "remove_reverse",
              .name = "remove_slice",
              .ops = {"Slice", "StridedSlice"},
              .help = "removes slices that take the whole tensor",
              .refuses = "bounds that are not constant; new or dropped axes, and an ellipsis; for "
                         "StridedSlice, input shapes that are not fully known",
              .pattern = "Slice(_, Const, Const); StridedSlice(_, Const, Const, Const)",
              .apply = RemoveSlice});

}  // namespace
}  // namespace grapnel::constant_folding
