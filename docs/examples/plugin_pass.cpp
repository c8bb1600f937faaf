// A pass as a plugin: two reverses of the same axes undo each other.
//
//   Before:  x -> ReverseV2(axes) -> ReverseV2(axes) -> y        After:  x -> y
//
// Refuses: axes that are not constant; an inner reverse on another device.
//
// `grapnel opt MODEL --plugin ./plugin_pass.so` runs it in the default pipeline, `--passes
// reverse_remover` runs it alone, `grapnel passes --plugin ./plugin_pass.so` lists it.
#include "grapnel/pass/rule.h"
#include "grapnel/support/plugin.h"

GRAPNEL_PLUGIN("reverse_remover");

namespace {

using namespace grapnel;

Verdict RemoveDoubleReverse(RuleContext& rule, const Node& outer) {
  Node inner = rule.Input(outer, 0);
  if (!inner || inner.op() != "ReverseV2") return rule.NotMine();
  auto first = rule.ConstantInts(inner, 1), second = rule.ConstantInts(outer, 1);
  if (!first || !second)
    return rule.Refuse("the axes of '{0}' are not constant", (first ? outer : inner).name());
  if (*first != *second) return rule.NotMine();
  if (inner.device() != outer.device())
    return rule.Refuse("'{0}' is on another device", inner.name());
  rule.edit.Used(inner);
  return rule.ReplaceBy(inner.input(0));
}

GRAPNEL_OPTIMIZER((PassInfo{.name = "reverse_remover",
                            .order = 50,  // after TensorFlow's passes
                            .default_on = true,
                            .help = "removes reverses that undo one another",
                            .refuses = "axes that are not constant"}));

GRAPNEL_RULE({.optimizer = "reverse_remover",
              .name = "remove_double_reverse",
              .ops = {"ReverseV2"},
              .help = "a reverse of a reverse of the same axes is what the inner one reads",
              .refuses = "axes that are not constant; a reverse on another device",
              .apply = RemoveDoubleReverse});

}  // namespace
