// Removes casts that change nothing.
//
//   Before:  Cast(x:float, float) -> y     After:  x -> y
//
// Refuses: nodes that are fetched, fed or kept; casts to another dtype and back, which round.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveRedundantCast(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() == 0) return rule.NotMine();
  DataType from = node.GetType("SrcT"), to = node.GetType("DstT");
  if (from != to)
    return rule.NotMine("'{0}' casts from {1} to {2}", node.name(), DataTypeName(from),
                        DataTypeName(to));
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  return rule.ReplaceBy(node.input(0));
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "remove_redundant_bitcast",
              .name = "remove_redundant_cast",
              .ops = {"Cast"},
              .help = "removes casts to the same dtype",
              .refuses = "nodes that are fetched, fed or kept; casts to another dtype and back",
              .apply = RemoveRedundantCast});

}  // namespace
}  // namespace grapnel::arithmetic
