// Reshapes and broadcasts to the shape that is there, and reshapes of reshapes.
//
//   Before:  Reshape(x:[2,3], [2,3]) -> y                After:  x -> y
//   Before:  Reshape(Exp(Reshape(x, s)), t) -> y         After:  Reshape(Exp(x), t) -> y
//
// The inner Reshape becomes NoOp in place.
//
// Refuses: for the first, nodes that are fetched, fed, kept or wait for something, and shapes that
// are not known to be the same; for the second, anything between that is fetched, fed, kept or read
// elsewhere.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "remove_redundant_reshape";

// Nobody reads it, or waits for it, any more.
void TurnIntoNoOp(Arithmetic& arithmetic, const Node& node) {
  arithmetic.edit.SetOp(node, "NoOp");
  arithmetic.edit.SetInputs(node, {});
  for (const auto& [key, value] : node.Attrs()) {
    if (!key.starts_with("_")) arithmetic.edit.RemoveAttr(node, key);
  }
}

}  // namespace

Simplified RemoveRedundantReshape(Arithmetic& arithmetic, const Node& node) {
  if (node.num_inputs() != 2) return std::nullopt;
  if (SameShape(arithmetic.ShapeOf(node.input(0)), arithmetic.ShapeOf({node.id(), 0}))) {
    if (!arithmetic.edit.IsPreserved(node) && !arithmetic.HasControls(node)) {
      if (!arithmetic.Begin(kRule, node)) return std::nullopt;
      return node.input(0);
    }
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept, or waits for something",
                           node.name());
  }
  if (node.op() != "Reshape") return std::nullopt;
  llvm::SmallVector<Node, 4> chain;
  bool is_shared = false;
  Node tail = arithmetic.TailOfChain(node, [&](const Node& next) {
    chain.push_back(next);
    if (next.NumDataUses() > 1 || arithmetic.edit.IsPreserved(next) ||
        arithmetic.kinds.Is(next, kFrameOp)) {
      is_shared = true;
      return false;
    }
    return arithmetic.IsUnaryElementwise(next);
  });
  Node inner = arithmetic.Input(tail, 0);
  if (!inner || inner.op() != "Reshape" || inner == node) return std::nullopt;
  if (is_shared || arithmetic.edit.IsPreserved(tail)) {
    arithmetic.edit.Refuse(kRule, node,
                           "something between it and '{0}' is fetched, fed, kept or "
                           "read elsewhere",
                           inner.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(inner);
  for (const Node& between : chain) arithmetic.ForgetShape(between);
  arithmetic.UpdateReaders({inner.id(), 0}, inner.input(0));
  arithmetic.ForwardControls(tail, inner);
  TurnIntoNoOp(arithmetic, inner);
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
