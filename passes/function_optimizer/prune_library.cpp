// Drops functions that nobody calls any more.
//
//   Before:  the call of f is inlined; the library has f and g, which f called
//   After:   the library is empty
//
// Refuses: functions that the main graph still reaches, through calls of calls too. Bodies leave
// the library to the main graph.
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
              .place = 11,
              .name = "prune_library",
              .ops = {},
              .help = "drops functions that nobody calls any more",
              .apply = PruneLibrary});

}  // namespace
}  // namespace grapnel
