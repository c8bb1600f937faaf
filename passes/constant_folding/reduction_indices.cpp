// Writes the axes of a reduction (Sum, Mean, Max, ...) as a constant if it reduces all dimensions.
//
//   Before:  x:[2,3], axes:[2] -> Sum -> y
//   After:   x, "ConstantFolding/Sum-reduction_indices":Const [0,1] -> Sum -> y
//
// Refuses: axes that are not known to be all dimensions; unknown ranks.
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// True if every reader reshapes the result to a shape of one element, so that the shape of the
// result does not matter.
bool IsReshapedToOneElement(Folding& rule, const Node& node) {
  if (node.uses().empty()) return false;
  return llvm::all_of(node.uses(), [&](const Use& use) {
    Node reader = rule.graph.node(use.node);
    return reader.op() == "Reshape" && rule.edit.ShapeOf({reader.id(), 0}).NumElements() == 1;
  });
}

Verdict MaterializeReductionIndices(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || rule.IsConst(node.input(1))) return rule.NotMine();
  std::string name = Folding::NameFor(node, "-reduction_indices");
  if (rule.Exists(name)) return rule.NotMine();
  Shape input = rule.ShapeOf(node.input(0));
  DataType type = BaseType(rule.edit.TypeOf(node.input(1)));
  if (!input.known_rank() || input.rank() < 1 ||
      (type != proto::DT_INT32 && type != proto::DT_INT64))
    return rule.NotMine();
  const Shape output = rule.edit.ShapeOf({node.id(), 0});
  std::optional<int64_t> num_axes = rule.ShapeOf(node.input(1)).NumElements();
  bool is_full = (output.known_rank() && output.rank() == 0) || num_axes == input.rank();
  if (!is_full && !IsReshapedToOneElement(rule, node)) {
    return rule.Refuse("axes '{0}' are not known to be all dimensions\nuse constant axes",
                       node.input_node(1).name());
  }
  std::vector<int64_t> axes(input.rank());
  std::iota(axes.begin(), axes.end(), 0);
  Node made = rule.edit.AddConstant(name, Literal::Integers(type, {input.rank()}, axes),
                                    node.device(), rule.Anchor(node.input(1), /*find=*/false));
  rule.edit.SetInput(node, 1, {made.id(), 0});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kValues,
              .after = "broadcast_gradient_args",
              .name = "reduction_indices",
              .ops = {"Sum", "Prod", "Min", "Max", "Mean", "Any", "All"},
              .help = "writes the axes of a full reduction as a constant",
              .refuses = "axes that are not known to be all dimensions; unknown ranks",
              .apply = MaterializeReductionIndices});

}  // namespace
}  // namespace grapnel::constant_folding
