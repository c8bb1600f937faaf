// Branches of single nodes, as TensorFlow 1 wrote them. The gradient of a Switch is a Merge of the
// gradients of both sides. The gradient of a Merge is a Switch for each input, which passes the
// gradient on if the Merge took that input. A side that was not taken is dead in the gradient too.
//
// Loops of single nodes have no gradient here: TensorFlow builds their gradient from Python objects
// that describe the loop, which a GraphDef does not contain.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// Returns the gradient from one side of a Switch. If there is none, because only the other side
// reads the variable, returns zeros of the variable's shape.
Value FromSide(G& g, int side) {
  if (g.has_dy(side)) return g.dy(side);
  return g.Zeros(g.Op("VariableShape", {g.x(0)}), g.dy(1 - side).dtype());
}

InputGradients SwitchOf(G& g) {
  Value pred = g.x(1);
  Value from_false = FromSide(g, 0);
  Value from_true = FromSide(g, 1);
  Value if_false = g.Op("Switch", {from_false, pred}).output(0);
  Value if_true = g.Op("Switch", {from_true, pred}).output(1);
  return {g.Op("Merge", {Values{if_false, if_true}})};
}
GRAPNEL_GRADIENT("Switch", SwitchOf);
GRAPNEL_GRADIENT("RefSwitch", SwitchOf);

InputGradients MergeOf(G& g) {
  Values is_taken;
  is_taken.reserve(g.num_inputs());
  for (int i = 0; i < g.num_inputs(); ++i) is_taken.push_back(g.Op("Equal", {g.y(1), i}));
  InputGradients gradients;
  for (const Value& taken : is_taken)
    gradients.push_back(g.Op("Switch", {g.dy(0), taken}).output(1));
  return gradients;
}
GRAPNEL_GRADIENT("Merge", MergeOf, 0b10);
GRAPNEL_GRADIENT("RefMerge", MergeOf, 0b10);

constexpr char kLoop[] =
    "a loop of single nodes (Enter, Merge, Switch, NextIteration, Exit) has no gradient here; "
    "write "
    "the graph with While ops (tf.compat.v1.enable_control_flow_v2() before it is made)";
GRAPNEL_REFUSED_GRADIENT("Exit", kLoop);
GRAPNEL_REFUSED_GRADIENT("RefExit", kLoop);
GRAPNEL_REFUSED_GRADIENT("Enter", kLoop);
GRAPNEL_REFUSED_GRADIENT("RefEnter", kLoop);
GRAPNEL_REFUSED_GRADIENT("NextIteration", kLoop);
GRAPNEL_REFUSED_GRADIENT("RefNextIteration", kLoop);
GRAPNEL_GRADIENT("LoopCond", [](G&) { return InputGradients(); });

}  // namespace
}  // namespace grapnel
