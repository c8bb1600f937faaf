// Replaces the logarithm of a softmax with its own op, which does not underflow.
//
//   Before:  Log(s = Softmax(x))     After:  LogSoftmax(s = Identity(x))
//
// Both nodes change in place.
//
// Refuses: a softmax that is fetched, fed, kept or read elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict ConvertLogSoftmax(Arithmetic& rule, const Node& node) {
  Node softmax = rule.Input(node, 0);
  if (!softmax || softmax.op() != "Softmax") return rule.NotMine();
  if (!rule.IsOwn(softmax)) return rule.Refused();
  rule.edit.SetOp(node, "LogSoftmax");
  rule.edit.SetOp(softmax, "Identity");
  rule.Enqueue({node, softmax});
  return rule.Changed();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "convert_log1p",
              .name = "convert_log_softmax",
              .ops = {"Log"},
              .help = "Log(Softmax(x)) becomes LogSoftmax",
              .refuses = "a softmax that is fetched, fed, kept or read elsewhere",
              .pattern = "(Softmax)",
              .apply = ConvertLogSoftmax});

}  // namespace
}  // namespace grapnel::arithmetic
