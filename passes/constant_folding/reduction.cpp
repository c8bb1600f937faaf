// Reductions (Sum, Mean, Max, ...) of which the axes, or the result, are known.
//
//   Before:  x:[2,3], axes:[2] -> Sum -> y
//   After:   x, "ConstantFolding/Sum-reduction_indices":Const [0,1] -> Sum -> y
//
//   Before:  x, [] -> Sum -> y              x:[1,3], [0] -> Sum(keep_dims) -> y
//   After:   x -> Identity -> y             x -> Identity -> y
//
//   Before:  x:[1,1], [0] -> Sum -> y:[1]
//   After:   x, "ConstantFolding/Sum_shape_const":Const [1] -> Reshape -> y
//
// Refuses: axes that are not constant where not all of them are reduced; ranks that are not known.
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

// Whether every reader gives the result, which then has one element, a shape of its own anyway.
bool IsReshapedToOneElement(Folding& fold, const Node& node) {
  if (node.uses().empty()) return false;
  return llvm::all_of(node.uses(), [&](const Use& use) {
    Node reader = fold.graph.node(use.node);
    return reader.op() == "Reshape" && fold.edit.ShapeOf({reader.id(), 0}).NumElements() == 1;
  });
}

bool AreOfSizeOne(llvm::ArrayRef<int64_t> axes, const Shape& shape) {
  if (!shape.known_rank()) return false;
  return llvm::all_of(axes, [&](int64_t axis) {
    if (axis < 0) axis += shape.rank();
    return axis >= 0 && axis < shape.rank() && shape.dim(static_cast<int>(axis)) == 1;
  });
}

constexpr char kSimplify[] = "simplify_reduction";

// One element to one element: only the rank changes.
bool BecomeReshape(Folding& fold, const Node& node, const std::string& name, int rank) {
  Rewriting rewriting(fold, kSimplify, node);
  if (!rewriting) return false;
  Literal ones = Literal::Integers(proto::DT_INT32, {rank}, std::vector<int64_t>(rank, 1));
  Node shape = fold.edit.AddConstant(name, ones, node.device(), node.input_node(1));
  fold.edit.SetInput(node, 1, {shape.id(), 0});
  fold.edit.SetOp(node, "Reshape");
  fold.edit.RemoveAttr(node, "keep_dims");
  fold.edit.RemoveAttr(node, "Tidx");
  fold.edit.SetAttr(node, "Tshape", attr::Type(proto::DT_INT32));
  return true;
}

}  // namespace

bool MaterializeReductionIndices(Folding& fold, const Node& node) {
  constexpr char kRule[] = "reduction_indices";
  if (node.num_inputs() != 2 || fold.IsConst(node.input(1))) return false;
  std::string name = Folding::NameFor(node, "-reduction_indices");
  if (fold.Exists(name)) return false;
  Shape input = fold.ShapeOf(node.input(0));
  DataType type = BaseType(fold.edit.TypeOf(node.input(1)));
  if (!input.known_rank() || input.rank() < 1 ||
      (type != proto::DT_INT32 && type != proto::DT_INT64))
    return false;
  const Shape output = fold.edit.ShapeOf({node.id(), 0});
  std::optional<int64_t> num_axes = fold.ShapeOf(node.input(1)).NumElements();
  bool is_full = (output.known_rank() && output.rank() == 0) || num_axes == input.rank();
  if (!is_full && !IsReshapedToOneElement(fold, node)) {
    fold.edit.Refuse(kRule, node, "axes '{0}' are not known to be all of them",
                     node.input_node(1).name());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  if (!output.IsFullyKnown()) fold.shapes_late.insert(node.id());
  std::vector<int64_t> axes(input.rank());
  std::iota(axes.begin(), axes.end(), 0);
  Node made = fold.edit.AddConstant(name, Literal::Integers(type, {input.rank()}, axes),
                                    node.device(), fold.Anchor(node.input(1)));
  fold.edit.SetInput(node, 1, {made.id(), 0});
  return true;
}

bool SimplifyReduction(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2) return false;
  std::optional<std::vector<int64_t>> axes = fold.IntegersOf(node.input(1));
  if (!axes) return false;
  bool has_type = node.FindAttr("T").has_value();
  if (!has_type && node.op() != "Any" && node.op() != "All") return false;
  bool keep_dims = node.GetBool("keep_dims"), is_identity = axes->empty();
  if (!is_identity) {
    Shape input = fold.ShapeOf(node.input(0)), output = fold.edit.ShapeOf({node.id(), 0});
    // To no dimension at all TensorFlow keeps the reduction.
    bool is_reshape = has_type && !keep_dims && input.NumElements() == 1 &&
                      output.NumElements() == 1 && output.rank() > 0;
    std::string name = Folding::NameFor(node, "_shape_const");
    if (is_reshape && !fold.Exists(name)) return BecomeReshape(fold, node, name, output.rank());
    if (!keep_dims || !AreOfSizeOne(*axes, input)) return false;
    is_identity = input.IsFullyKnown();
    if (!is_identity) {
      fold.edit.Refuse(kSimplify, node, "the shape of '{0}' is not known in full: {1}",
                       node.input_node(0).name(), input.ToString());
      return false;
    }
  }
  Rewriting rewriting(fold, kSimplify, node);
  if (!rewriting) return false;
  fold.BecomeIdentity(node, 0);
  return true;
}

}  // namespace grapnel::constant_folding
