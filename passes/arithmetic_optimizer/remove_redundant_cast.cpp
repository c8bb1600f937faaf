// Casts and bitcasts that change nothing, and bitcasts of bitcasts.
//
//   Before:  Cast(x:float, float) -> y                  After:  x -> y
//   Before:  Bitcast(Bitcast(x:float, int32), uint32)   After:  Bitcast(x:float, uint32)
//
// Refuses: nodes that are fetched, fed or kept; casts to another dtype and back, which round.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveRedundantBitcast(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_redundant_bitcast";
  Node input = arithmetic.Input(node, 0);
  if (!input) return std::nullopt;
  if (node.GetType("T") == node.GetType("type")) {
    if (!arithmetic.edit.IsPreserved(node)) {
      if (!arithmetic.Begin(kRule, node)) return std::nullopt;
      return node.input(0);
    }
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
  }
  if (input.op() != "Bitcast" || input.num_inputs() == 0) return std::nullopt;
  if (arithmetic.edit.IsPreserved(input)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", input.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(input);
  arithmetic.edit.SetInput(node, 0, input.input(0));
  arithmetic.SetType(node, "T", input.GetType("T"));
  arithmetic.Enqueue(node);
  return InPlace(node);
}

Simplified RemoveRedundantCast(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_redundant_cast";
  if (node.num_inputs() == 0 || node.GetType("SrcT") != node.GetType("DstT")) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  return node.input(0);
}

}  // namespace grapnel::arithmetic
