// Removes a reduction (Sum, Mean, Max, ...) over no dimension, or over dimensions of size 1.
//
//   Before:  x, [] -> Sum -> y              x:[1,3], [0] -> Sum(keep_dims) -> y
//   After:   x -> Identity -> y             x -> Identity -> y
//
//   Before:  x:[1,1], [0] -> Sum -> y:[1]
//   After:   x, "ConstantFolding/Sum_shape_const":Const [1] -> Reshape -> y
//
// Refuses: axes that are not constant; over dimensions of size 1, unknown shapes; without
// keep_dims, tensors of more than one element, and scalar results, as TensorFlow does.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

bool AreOfSizeOne(llvm::ArrayRef<int64_t> axes, const Shape& shape) {
  if (!shape.known_rank()) return false;
  return llvm::all_of(axes, [&](int64_t axis) {
    if (axis < 0) axis += shape.rank();
    return axis >= 0 && axis < shape.rank() && shape.dim(static_cast<int>(axis)) == 1;
  });
}

// Turns a reduction of one element to one element, which changes only the rank, into a Reshape.
Verdict BecomeReshape(Folding& rule, const Node& node, const std::string& name, int rank) {
  Literal ones = Literal::Integers(proto::DT_INT32, {rank}, std::vector<int64_t>(rank, 1));
  Node shape = rule.edit.AddConstant(name, ones, node.device(), node.input_node(1));
  rule.edit.SetInput(node, 1, {shape.id(), 0});
  rule.edit.SetOp(node, "Reshape");
  rule.edit.RemoveAttr(node, "keep_dims");
  rule.edit.RemoveAttr(node, "Tidx");
  rule.SetType(node, "Tshape", proto::DT_INT32);
  return rule.Done();
}

Verdict SimplifyReduction(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  std::optional<std::vector<int64_t>> axes = rule.ConstantInts(node, 1);
  if (!axes) return rule.NotMine();
  bool has_type = node.FindAttr("T").has_value();
  if (!has_type && node.op() != "Any" && node.op() != "All") return rule.NotMine();
  if (axes->empty()) return rule.BecomeIdentity(node, 0);
  bool keep_dims = node.GetBool("keep_dims");
  Shape input = rule.ShapeOf(node.input(0)), output = rule.edit.ShapeOf({node.id(), 0});
  // The result must have dimensions: TensorFlow keeps a reduction to a scalar.
  bool is_reshape = has_type && !keep_dims && input.NumElements() == 1 &&
                    output.NumElements() == 1 && output.rank() > 0;
  std::string name = Folding::NameFor(node, "_shape_const");
  if (is_reshape && !rule.Exists(name)) return BecomeReshape(rule, node, name, output.rank());
  if (!keep_dims || !AreOfSizeOne(*axes, input)) return rule.NotMine();
  if (!input.IsFullyKnown()) {
    return rule.Refuse(
        "the shape of '{0}' is not known in full: {1}\nmake the shapes of the inputs known",
        node.input_node(0).name(), input.ToString());
  }
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "simplify_switch",
              .name = "simplify_reduction",
              .ops = {"Sum", "Prod", "Min", "Max", "Mean", "Any", "All"},
              .help = "removes a reduction of no dimension, or of dimensions of size 1",
              .refuses = "axes that are not constant; unknown shapes, unless there are no axes; "
                         "without keep_dims, tensors of more than one element and scalar results",
              .pattern = "(_, Const)",
              .apply = SimplifyReduction});

}  // namespace
}  // namespace grapnel::constant_folding
