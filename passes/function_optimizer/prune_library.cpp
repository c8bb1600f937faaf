// Drops functions that are no longer called.
//
//   Before:  the call of f is inlined; the library has f and g, which f called
//   After:   the library is empty
//
// Refuses: functions that the main graph still reaches, directly or through other functions. Only
// the main graph prunes the library, not function bodies.
#include "lib/function/function_rewriter.h"
#include "lib/pass/library.h"

namespace grapnel {
namespace {

Verdict PruneLibrary(FunctionRewriter& rule) {
  if (rule.edit.function()) return rule.NotMine();
  if (ReachableFunctions(rule.module).size() == rule.module.functions.size()) return rule.NotMine();
  if (!rule.BeginAt(Node())) return rule.NotMine();
  rule.edit.DropUnreachableFunctions();
  rule.End();
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "function_optimizer",
              .phase = FunctionRewriter::kWholeBody,
              .after = "specialize_call",
              .name = "prune_library",
              .ops = {},
              .help = "drops functions that the main graph does not reach",
              .apply = PruneLibrary});

}  // namespace
}  // namespace grapnel
