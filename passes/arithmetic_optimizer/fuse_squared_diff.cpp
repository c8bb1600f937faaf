// Replaces the square of a difference with its own op.
//
//   Before:  Square(s = Sub(x, y))   After:  Identity(s = SquaredDifference(x, y))
//
// Both nodes change in place.
//
// Refuses: a difference that is fetched, fed, kept or read elsewhere; complex numbers, which
// SquaredDifference conjugates.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict FuseSquaredDiff(Arithmetic& rule, const Node& node) {
  Node difference = rule.Input(node, 0);
  if (!difference || difference.op() != "Sub") return rule.NotMine();
  if (!rule.IsOwn(difference)) return rule.Refused();
  if (IsComplex(difference.GetType("T")))
    return rule.Refuse("'{0}' is complex\ncompute it in real numbers", difference.name());
  rule.edit.SetOp(node, "Identity");
  rule.edit.SetOp(difference, "SquaredDifference");
  rule.Enqueue({node, difference});
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_cast_into_segment_reduction",
              .name = "fuse_squared_diff",
              .ops = {"Square"},
              .help = "Square(x - y) becomes SquaredDifference",
              .refuses = "a difference that is fetched, fed, kept or read elsewhere; complex "
                         "numbers",
              .pattern = "(Sub)",
              .apply = FuseSquaredDiff});

}  // namespace
}  // namespace grapnel::arithmetic
