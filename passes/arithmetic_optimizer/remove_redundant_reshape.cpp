// Removes reshapes and broadcasts to the tensor's own shape, and merges reshapes of reshapes.
//
//   Before:  Reshape(x:[2,3], [2,3]) -> y                After:  x -> y
//   Before:  Reshape(Exp(Reshape(x, s)), t) -> y         After:  Reshape(Exp(x), t) -> y
//
// The inner Reshape becomes a NoOp in place.
//
// Refuses: for the first, nodes that are fetched, fed, kept or wait for other nodes, and shapes
// that are not known to be equal; for the second, an inner Reshape, or ops between the two, that
// are fetched, fed, kept or read elsewhere, Enter, Exit and NextIteration, and, without ops between
// the two, an outer Reshape that is fetched, fed or kept.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

// Turns `node`, which no node reads or waits for by now, into a NoOp.
void TurnIntoNoOp(Arithmetic& rule, const Node& node) {
  rule.edit.SetOp(node, "NoOp");
  rule.edit.SetInputs(node, {});
  for (const auto& [key, value] : node.Attrs()) {
    if (!key.starts_with("_")) rule.edit.RemoveAttr(node, key);
  }
}

Verdict SkipInnerReshape(Arithmetic& rule, const Node& node) {
  llvm::SmallVector<Node, 4> chain;
  bool is_shared = false;
  Node tail = rule.TailOfChain(node, [&](const Node& next) {
    chain.push_back(next);
    is_shared = next.NumDataUses() > 1 || rule.IsPreserved(next) || rule.kinds.Is(next, kFrameOp);
    return !is_shared && rule.IsUnaryElementwise(next);
  });
  Node inner = rule.Input(tail, 0);
  if (!inner || inner.op() != "Reshape" || inner == node) return rule.NotMine();
  if (is_shared || rule.IsPreserved(tail)) {
    return rule.Refuse(
        "'{0}', '{1}' or an op between them is fetched, fed or kept, has other readers, or is "
        "Enter, Exit or NextIteration\nundo this: {2}",
        inner.name(), node.name(),
        rule.ObstaclesAt(chain, Obstacles::kStays | Obstacles::kReaders));
  }
  rule.edit.Used(inner);
  for (const Node& between : chain) rule.ForgetShape(between);
  rule.UpdateReaders({inner.id(), 0}, inner.input(0));
  rule.ForwardControls(tail, inner);
  TurnIntoNoOp(rule, inner);
  return rule.Done();
}

Verdict RemoveRedundantReshape(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  Verdict verdict = rule.NotMine();
  if (SameShape(rule.ShapeOf(node.input(0)), rule.ShapeOf({node.id(), 0}))) {
    if (!rule.IsPreserved(node) && node.num_controls() == 0) return rule.ReplaceBy(node.input(0));
    verdict = rule.Refuse("'{0}' is fetched, fed or kept, or waits for other nodes\nundo this: {1}",
                          node.name(),
                          rule.ObstaclesAt({node}, Obstacles::kStays | Obstacles::kControls));
  } else if (rule.edit.wants_mismatches()) {
    rule.NotMine("'{0}' is not known to have the shape of its input: {1}, {2}", node.name(),
                 rule.ShapeOf({node.id(), 0}).ToString(), rule.ShapeOf(node.input(0)).ToString());
  }
  return node.op() == "Reshape" ? SkipInnerReshape(rule, node) : verdict;
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "reduce_upsampling_dims",
     .name = "remove_redundant_reshape",
     .ops = {"Reshape", "BroadcastTo"},
     .help = "removes Reshape and BroadcastTo to the same shape, and merges consecutive reshapes",
     .refuses = "nodes that are fetched, fed, kept or wait for other nodes; unknown shapes; an "
                "inner Reshape, or ops between two, that are fetched, fed, kept or read elsewhere; "
                "Enter, Exit and NextIteration",
     .pattern = "Reshape(Reshape)",
     .apply = RemoveRedundantReshape});

}  // namespace
}  // namespace grapnel::arithmetic
