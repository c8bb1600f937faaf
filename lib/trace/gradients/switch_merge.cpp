// Branches of single nodes, as TensorFlow 1 wrote them: the gradient of a Switch is a Merge of what
// comes from both sides, that of a Merge a Switch by which input it took. A side that was not taken
// is dead on the way back too.
//
// Loops of single nodes have none: TensorFlow makes theirs from what its Python objects know of a
// loop, which no GraphDef holds.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

InputGradients SwitchOf(G& g) {
  if (g.x(0).dtype() == proto::DT_RESOURCE || g.x(0).dtype() == proto::DT_VARIANT)
    return g.Fail("its gradient is known for tensors of numbers");
  Value pred = g.x(1);
  Value if_false = g.Op("Switch", {g.dy(0), pred}).output(0);
  Value if_true = g.Op("Switch", {g.dy(1), pred}).output(1);
  return {g.Op("Merge", {Values{if_false, if_true}})};
}
GRAPNEL_GRADIENT("Switch", SwitchOf);
GRAPNEL_GRADIENT("RefSwitch", SwitchOf);

InputGradients MergeOf(G& g) {
  std::vector<Value> is_taken;
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
