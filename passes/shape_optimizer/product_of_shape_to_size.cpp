// Replaces the product of a shape with the size.
//
//   Before:  x -> Shape s, [0] -> Prod p -> y          After:  x, ^s -> Size p -> y
//
// Refuses: a product that keeps its dimensions, or whose number of axes is not known to be one.
#include "lib/pass/rule.h"

namespace grapnel {
namespace {

bool CanBecomeSize(RuleContext& rule, const Node& prod) {
  DataType type = prod.GetType("T");
  if (prod.op() != "Prod" || prod.num_inputs() != 2) return false;
  if (type != proto::DT_INT32 && type != proto::DT_INT64) return false;
  if (prod.GetBool("keep_dims")) {
    rule.RefuseAt(prod, "'{0}' keeps the dimensions that it reduces\nuse keep_dims=False",
                  prod.name());
    return false;
  }
  Shape axes = rule.ShapeOf(prod.input(1));
  if (axes.NumElements() == 1) return true;
  rule.RefuseAt(prod, "the axes of '{0}' have the shape {1}; one axis was expected\nuse one axis",
                prod.name(), axes.ToString());
  return false;
}

void BecomeSize(RuleContext& rule, const Node& prod, const Node& shape) {
  rule.edit.Used(shape);
  llvm::SmallVector<Port, 4> inputs = prod.inputs();
  inputs[0] = shape.input(0);
  inputs[1] = {shape.id(), kControlPort};
  DataType type = prod.GetType("T");
  rule.edit.SetOp(prod, "Size");
  rule.edit.SetDevice(prod, shape.device());
  rule.edit.SetInputs(prod, inputs);
  rule.edit.RemoveAttr(prod, "Tidx");
  rule.edit.RemoveAttr(prod, "keep_dims");
  rule.SetType(prod, "out_type", type);
  rule.SetType(prod, "T", shape.GetType("T"));
}

// A rule that is applied to the whole body: TensorFlow visits the readers of each Shape.
Verdict ProductsToSizes(RuleContext& rule) {
  for (Node shape : rule.graph.nodes()) {
    if (shape.op() != "Shape" || shape.num_inputs() != 1 || rule.edit.IsFed(shape)) continue;
    for (const Use& use : shape.UsesOf(0)) {
      Node prod = rule.graph.node(use.node);
      if (use.slot != 0 || !CanBecomeSize(rule, prod)) continue;
      if (!rule.BeginAt(prod)) return rule.Done();
      BecomeSize(rule, prod, shape);
      rule.End();
    }
  }
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "shape_optimizer",
     .after = kFirst,
     .name = "product_of_shape_to_size",
     .ops = {},
     .help = "the product of a shape becomes a Size",
     .refuses = "products that keep dimensions, or whose number of axes is not known to be one",
     .pattern = "Prod(Shape)",
     .apply = ProductsToSizes});

}  // namespace
}  // namespace grapnel
