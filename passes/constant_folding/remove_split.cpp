// Removes a Split or SplitV into a single part.
//
//   Before:  axis, x -> Split(num_split=1) -> y
//   After:   x -> Identity -> y, axis -^-> Identity
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict RemoveSplit(Folding& rule, const Node& node) {
  int input = node.op() == "Split" ? 1 : 0;
  if (node.GetInt("num_split") != 1 || node.num_inputs() <= input) return rule.NotMine();
  return rule.BecomeIdentity(node, input);
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = kFirst,
              .name = "remove_split",
              .ops = {"Split", "SplitV"},
              .help = "removes a split into a single part",
              .apply = RemoveSplit});

}  // namespace
}  // namespace grapnel::constant_folding
