// Removes the watch of TensorFlow's debugger on a tensor.
//
//   Before:  x -> DebugIdentityV2 n -> y        After:  x -> Identity n -> y
//
// A graph that is saved while the debugger is on contains these ops, which then write debug files
// wherever the graph runs.
//
// Refuses nothing; DebugNanCount and DebugNumericSummary stay: their results differ from their
// inputs.
#include "passes/debug_stripper/debug_stripper.h"

namespace grapnel::debug_stripper {
namespace {

Verdict StripDebugIdentity(RuleContext& rule, const Node& node) {
  rule.edit.SetOp(node, "Identity");
  DropAttrsOfOp(rule.edit, node, "T");
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "debug_stripper",
              .after = "strip_print",
              .name = "strip_debug_identity",
              .ops = {"DebugIdentity", "DebugIdentityV2", "DebugIdentityV3"},
              .help = "a DebugIdentity of TensorFlow's debugger becomes an Identity",
              .apply = StripDebugIdentity});

}  // namespace
}  // namespace grapnel::debug_stripper
