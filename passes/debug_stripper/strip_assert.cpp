// Removes an assertion.
//
//   Before:  c, x -> Assert a;  y(^a)           After:  NoOp a(^c, ^x);  y(^a)
//
// Refuses nothing.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {
namespace {

Verdict StripAssert(RuleContext& rule, const Node& node) {
  BecomeNoOp(rule.edit, node);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "debug_stripper",
              .after = kFirst,
              .name = "strip_assert",
              .ops = {"Assert"},
              .help = "an Assert becomes a NoOp that waits for its inputs",
              .apply = StripAssert});

}  // namespace
}  // namespace grapnel::debug_stripper
