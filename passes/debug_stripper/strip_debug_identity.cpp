// A tensor that TensorFlow's debugger looks at is looked at no more.
//
//   Before:  x -> DebugIdentityV2 n -> y        After:  x -> Identity n -> y
//
// The debugger leaves these ops in graphs that are saved while it is on; such a graph writes debug
// files wherever it runs.
//
// Refuses nothing; DebugNanCount and DebugNumericSummary give other values than they read, and
// stay.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {
namespace {

Verdict StripDebugIdentity(RuleContext& rule, const Node& node) {
  rule.edit.SetOp(node, "Identity");
  DropAttrsOfOp(rule.edit, node, "T");
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "debug_stripper",
              .place = 4,
              .name = "strip_debug_identity",
              .ops = {"DebugIdentity", "DebugIdentityV2", "DebugIdentityV3"},
              .help = "a DebugIdentity of TensorFlow's debugger becomes an Identity",
              .apply = StripDebugIdentity});

}  // namespace
}  // namespace grapnel::debug_stripper
