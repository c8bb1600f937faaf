// Log(1 + x) and Exp(x) - 1, in the ops that are exact near 0. The node changes in place and waits
// for the constant.
//
//   Before:  Log(x + 1)       After:  Log1p(x)
//   Before:  Exp(x) - 1       After:  Expm1(x)
//
// Refuses: constants other than ones; constants that change the shape, or shapes that are not
// known.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

// Whether input `other` of `node` leaves the shape of input `kept` as it is.
bool KeepsShapeOf(Arithmetic& arithmetic, const Node& node, int kept, int other) {
  const Shape shape = arithmetic.ShapeOfInput(node, kept);
  std::optional<Shape> result = Broadcast(shape, arithmetic.ShapeOfInput(node, other));
  return result && SameShape(shape, *result);
}

}  // namespace

Simplified ConvertLog1p(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "convert_log1p";
  Node sum = arithmetic.Input(node, 0);
  if (!sum || !IsAdd(sum) || sum.num_inputs() != 2) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    if (!arithmetic.IsOnes(sum.input(1 - i))) continue;
    if (!KeepsShapeOf(arithmetic, sum, i, 1 - i)) {
      arithmetic.edit.Refuse(kRule, node, "the shape of '{0}' is not known, or '{1}' changes it",
                             sum.input_node(i).name(), sum.input_node(1 - i).name());
      continue;
    }
    if (!arithmetic.Begin(kRule, node)) return std::nullopt;
    Node x = sum.input_node(i), ones = sum.input_node(1 - i);
    arithmetic.edit.Used(sum);
    arithmetic.edit.SetOp(node, "Log1p");
    arithmetic.edit.SetInput(node, 0, sum.input(i));
    arithmetic.LoseTrack(node, sum.input(i));
    arithmetic.edit.AddControl(node, ones);
    arithmetic.ForwardControls(node, sum);
    for (const Node& other : {node, sum, x, ones}) arithmetic.Enqueue(other);
    return InPlace(node);
  }
  return std::nullopt;
}

Simplified ConvertExpm1(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "convert_expm1";
  Node exp = arithmetic.Input(node, 0);
  if (!exp || exp.op() != "Exp" || node.num_inputs() != 2 || !arithmetic.IsOnes(node.input(1)))
    return std::nullopt;
  if (!KeepsShapeOf(arithmetic, node, 0, 1)) {
    arithmetic.edit.Refuse(kRule, node, "the shape of '{0}' is not known, or '{1}' changes it",
                           exp.name(), node.input_node(1).name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  Node x = exp.input_node(0), ones = node.input_node(1);
  arithmetic.edit.Used(exp);
  arithmetic.edit.SetOp(node, "Expm1");
  arithmetic.edit.SetInput(node, 0, exp.input(0));
  arithmetic.LoseTrack(node, exp.input(0));
  arithmetic.TurnIntoControl(node, 1);
  arithmetic.ForwardControls(node, exp);
  for (const Node& other : {node, exp, x, ones}) arithmetic.Enqueue(other);
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
