// Removes a numeric check.
//
//   Before:  x -> CheckNumerics n -> y          After:  x -> Identity n -> y
//
// Refuses nothing.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {
namespace {

Verdict StripCheckNumerics(RuleContext& rule, const Node& node) {
  rule.edit.SetOp(node, "Identity");
  rule.edit.RemoveAttr(node, "message");
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "debug_stripper",
              .after = "strip_assert",
              .name = "strip_check_numerics",
              .ops = {"CheckNumerics"},
              .help = "a CheckNumerics becomes an Identity",
              .apply = StripCheckNumerics});

}  // namespace
}  // namespace grapnel::debug_stripper
