// Slices that take all there is.
//
//   Before:  x:[2,3], begin [0,0], size [-1,3] -> Slice -> y
//   After:   x -> Identity -> y, begin, size -^-> Identity
//
// So for StridedSlice with strides of 1 whose masks, or bounds, cover every dimension.
//
// Refuses: bounds that are not constant; new or dropped axes, and an ellipsis, which TensorFlow
// leaves; for StridedSlice an input shape that is not known in full.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "remove_slice";

bool Remove(Folding& fold, const Node& node) {
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  fold.BecomeIdentity(node, 0);
  return true;
}

using Ints = std::vector<int64_t>;

// Whether the slice takes the whole of each dimension; of those that are not written it does.
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

}  // namespace

bool RemoveSlice(Folding& fold, const Node& node) {
  if (node.num_inputs() != 3) return false;
  std::optional<Ints> begin = fold.IntegersOf(node.input(1)), size = fold.IntegersOf(node.input(2));
  if (!begin || !size || begin->size() != size->size()) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  if (!shape.known_rank()) {
    // Grappler's shapes have a rank here: that of the slice.
    shape = Shape::UnknownOfRank(static_cast<int>(begin->size()));
  }
  if (shape.rank() != static_cast<int>(begin->size())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if ((*begin)[i] != 0) return false;
    if ((*size)[i] != -1 && (*size)[i] != shape.dim(i)) return false;
  }
  return Remove(fold, node);
}

bool RemoveStridedSlice(Folding& fold, const Node& node) {
  if (node.num_inputs() != 4 || node.GetInt("new_axis_mask") != 0 ||
      node.GetInt("shrink_axis_mask") != 0)
    return false;
  std::optional<Ints> begin = fold.IntegersOf(node.input(1)), end = fold.IntegersOf(node.input(2)),
                      strides = fold.IntegersOf(node.input(3));
  if (!begin || !end || !strides || begin->size() != strides->size() ||
      end->size() != strides->size() || strides->size() > 32) {
    return false;
  }
  Shape shape = fold.ShapeOf(node.input(0));
  if (!shape.IsFullyKnown()) {
    fold.edit.Refuse(kRule, node, "the shape of '{0}' is not known: {1}", node.input_node(0).name(),
                     shape.ToString());
    return false;
  }
  if (node.GetInt("ellipsis_mask") != 0) {
    fold.edit.Refuse(kRule, node, "'{0}' is written with an ellipsis", node.name());
    return false;
  }
  return TakesAll(node, shape, *begin, *end, *strides) && Remove(fold, node);
}

}  // namespace grapnel::constant_folding
