// Ops that move or reshape elements, where there is nothing to move.
//
//   Before:  x:[2,3], [2,3]:Const -> Reshape -> y
//   After:   x -> Identity -> y, [2,3] -^-> Identity
//
//   Before:  x -> Pack(axis=1) -> y
//   After:   x, "ConstantFolding/Pack_const_axis":Const 1 -> ExpandDims -> y
//
// So for Squeeze of no dimension of size 1, Pad by zeros, Tile by ones, Split and SplitV in one,
// Transpose that leaves dimensions other than 1 in place, ReverseV2 of dimensions of size 1,
// RandomShuffle of a scalar or of one row.
//
// Refuses: operands that are not constant; shapes that are not known as far as the answer needs
// them; MirrorPad, Reverse and ConjugateTranspose, as TensorFlow does.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

bool Remove(Folding& fold, const Node& node, int input, llvm::StringRef rule) {
  Rewriting rewriting(fold, rule, node);
  if (!rewriting) return false;
  fold.BecomeIdentity(node, input);
  return true;
}

}  // namespace

bool RemoveSplit(Folding& fold, const Node& node) {
  if (node.GetInt("num_split") != 1) return false;
  int input = node.op() == "Split" ? 1 : 0;
  return node.num_inputs() > input && Remove(fold, node, input, "remove_split");
}

bool RemoveTranspose(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2) return false;
  std::optional<std::vector<int64_t>> permutation = fold.IntegersOf(node.input(1));
  if (!permutation) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  int rank = static_cast<int>(permutation->size());
  bool all_known = shape.known_rank() && shape.rank() == rank;
  for (int i = 0; i < rank; ++i) {
    bool stays = (*permutation)[i] == i || (all_known && shape.dim(i) == 1);
    if (!stays) return false;
  }
  if (!all_known) {
    fold.edit.Refuse("remove_transpose", node, "the rank of '{0}' is not known to be {1}",
                     node.input_node(0).name(), rank);
    return false;
  }
  return Remove(fold, node, 0, "remove_transpose");
}

bool RemoveRandomShuffle(Folding& fold, const Node& node) {
  if (node.num_inputs() != 1) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  if (!shape.known_rank() || (shape.rank() > 0 && shape.dim(0) != 1)) return false;
  return Remove(fold, node, 0, "remove_random_shuffle");
}

bool RemoveReverse(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2) return false;
  std::optional<std::vector<int64_t>> axes = fold.IntegersOf(node.input(1));
  if (!axes) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  if (!shape.known_rank()) {
    fold.edit.Refuse("remove_reverse", node, "the rank of '{0}' is not known",
                     node.input_node(0).name());
    return false;
  }
  for (int64_t axis : *axes) {
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank() || shape.dim(static_cast<int>(axis)) != 1) return false;
  }
  return Remove(fold, node, 0, "remove_reverse");
}

bool RemoveTile(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2) return false;
  std::optional<std::vector<int64_t>> multiples = fold.IntegersOf(node.input(1));
  if (!multiples || !llvm::all_of(*multiples, [](int64_t n) { return n == 1; })) return false;
  return Remove(fold, node, 0, "remove_tile");
}

bool RemovePad(Folding& fold, const Node& node) {
  if (node.num_inputs() < 2) return false;
  std::optional<std::vector<int64_t>> paddings = fold.IntegersOf(node.input(1));
  if (!paddings || !llvm::all_of(*paddings, [](int64_t n) { return n == 0; })) return false;
  return Remove(fold, node, 0, "remove_pad");
}

bool RemoveSqueeze(Folding& fold, const Node& node) {
  if (node.num_inputs() != 1) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  // A dimension of size 0 cannot be squeezed either, but Grappler asks for more than 1.
  if (!shape.known_rank() || !llvm::all_of(shape.dims(), [](int64_t dim) { return dim > 1; }))
    return false;
  return Remove(fold, node, 0, "remove_squeeze");
}

bool RemoveReshape(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2 || !node.FindAttr("T")) return false;
  std::optional<std::vector<int64_t>> wanted = fold.IntegersOf(node.input(1));
  if (!wanted) return false;
  Shape shape = fold.ShapeOf(node.input(0));
  if (!shape.IsFullyKnown()) {
    fold.edit.Refuse("remove_reshape", node, "the shape of '{0}' is not known: {1}",
                     node.input_node(0).name(), shape.ToString());
    return false;
  }
  if (shape.rank() != static_cast<int>(wanted->size())) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if ((*wanted)[i] != -1 && (*wanted)[i] != shape.dim(i)) return false;
  }
  return Remove(fold, node, 0, "remove_reshape");
}

bool SimplifyPack(Folding& fold, const Node& node) {
  if (node.num_inputs() != 1 || fold.edit.IsFed(node.input_node(0))) return false;
  std::string name = Folding::NameFor(node, "_const_axis");
  if (fold.Exists(name)) return false;
  Rewriting rewriting(fold, "simplify_pack", node);
  if (!rewriting) return false;
  Literal axis = Literal::Scalar(proto::DT_INT32, static_cast<double>(node.GetInt("axis")));
  Node made = fold.edit.AddConstant(name, axis, node.device(), fold.Anchor(node.input(0)));
  fold.edit.AddInput(node, {made.id(), 0});
  fold.edit.SetOp(node, "ExpandDims");
  fold.edit.RemoveAttr(node, "axis");
  fold.edit.RemoveAttr(node, "N");
  fold.edit.SetAttr(node, "Tdim", attr::Type(proto::DT_INT32));
  return true;
}

}  // namespace grapnel::constant_folding
