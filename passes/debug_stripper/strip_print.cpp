// Removes prints.
//
//   Before:  x, [u, v] -> Print p -> y          After:  x, ^u, ^v -> Identity p -> y
//   Before:  s -> PrintV2 p;  y(^p)             After:  NoOp p(^s);  y(^p)
//
// Refuses nothing.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {
namespace {

Verdict StripPrint(RuleContext& rule, const Node& node) {
  if (node.op() == "PrintV2") {
    BecomeNoOp(rule.edit, node);
    return rule.Done();
  }
  rule.edit.SetOp(node, "Identity");
  DropAttrsOfOp(rule.edit, node, "T");
  WaitFrom(rule.edit, node, 1);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "debug_stripper",
              .after = "strip_check_numerics",
              .name = "strip_print",
              .ops = {"Print", "PrintV2"},
              .help = "a Print becomes an Identity, a PrintV2 a NoOp",
              .apply = StripPrint});

}  // namespace
}  // namespace grapnel::debug_stripper
