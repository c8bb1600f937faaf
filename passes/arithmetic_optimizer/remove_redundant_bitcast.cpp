// Removes bitcasts that change nothing, and merges bitcasts of bitcasts.
//
//   Before:  Bitcast(x:int32, int32) -> y               After:  x -> y
//   Before:  Bitcast(Bitcast(x:float, int32), uint32)   After:  Bitcast(x:float, uint32)
//
// Refuses: for the first, a Bitcast that is fetched, fed or kept; for the second, an inner Bitcast
// that is.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveRedundantBitcast(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() == 0) return rule.NotMine();
  Verdict verdict = rule.NotMine();
  if (node.GetType("T") == node.GetType("type")) {
    if (!rule.IsPreserved(node)) return rule.ReplaceBy(node.input(0));
    verdict = rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  }
  Node input = rule.Input(node, 0);
  if (!input || input.op() != "Bitcast" || input.num_inputs() == 0) return verdict;
  if (rule.IsPreserved(input))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        input.name());
  rule.edit.Used(input);
  rule.edit.SetInput(node, 0, input.input(0));
  rule.SetType(node, "T", input.GetType("T"));
  rule.Enqueue(node);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "remove_involution",
     .name = "remove_redundant_bitcast",
     .ops = {"Bitcast"},
     .help = "removes bitcasts to the same dtype, and merges consecutive ones",
     .refuses = "a Bitcast to its own dtype, or an inner Bitcast, that is fetched, fed or kept",
     .pattern = "(Bitcast)",
     .apply = RemoveRedundantBitcast});

}  // namespace
}  // namespace grapnel::arithmetic
