// Replaces a negated comparison with the opposite comparison.
//
//   Before:  LogicalNot(Less(x, y)) -> z     After:  GreaterEqual(x, y) -> z
//
// Refuses: nodes that are fetched, fed or kept; a comparison with another reader.
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict RemoveLogicalNot(Arithmetic& rule, const Node& node) {
  Node input = rule.Input(node, 0);
  if (!input) return rule.NotMine();
  llvm::StringRef opposite = llvm::StringSwitch<llvm::StringRef>(input.op())
                                 .Case("Equal", "NotEqual")
                                 .Case("NotEqual", "Equal")
                                 .Case("Less", "GreaterEqual")
                                 .Case("LessEqual", "Greater")
                                 .Case("Greater", "LessEqual")
                                 .Case("GreaterEqual", "Less")
                                 .Default("");
  if (opposite.empty()) return rule.NotMine();
  if (rule.IsPreserved(node) || rule.IsPreserved(input) || input.NumDataUses() > 1) {
    return rule.Refuse("'{0}' or '{1}' is fetched, fed, kept or read elsewhere\nundo this: {2}",
                       node.name(), input.name(),
                       rule.ObstaclesAt({input, node}, Obstacles::kStays | Obstacles::kReaders));
  }
  rule.edit.SetOp(input, opposite);
  rule.ChangesValue();
  return rule.ReplaceBy(input);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "replace_mul_with_square",
              .name = "remove_logical_not",
              .ops = {"LogicalNot"},
              .help = "Not(x < y) becomes x >= y, and the like for other comparisons",
              .refuses = "nodes that are fetched, fed or kept; a comparison with another reader",
              .pattern = "(Equal|NotEqual|Less|LessEqual|Greater|GreaterEqual)",
              .apply = RemoveLogicalNot});

}  // namespace
}  // namespace grapnel::arithmetic
