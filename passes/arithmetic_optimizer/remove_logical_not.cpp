// A comparison that is negated is the opposite comparison.
//
//   Before:  LogicalNot(Less(x, y)) -> z     After:  GreaterEqual(x, y) -> z
//
// Refuses: nodes that are fetched, fed or kept; a comparison with another reader.
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified RemoveLogicalNot(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_logical_not";
  Node input = arithmetic.Input(node, 0);
  if (!input) return std::nullopt;
  llvm::StringRef opposite = llvm::StringSwitch<llvm::StringRef>(input.op())
                                 .Case("Equal", "NotEqual")
                                 .Case("NotEqual", "Equal")
                                 .Case("Less", "GreaterEqual")
                                 .Case("LessEqual", "Greater")
                                 .Case("Greater", "LessEqual")
                                 .Case("GreaterEqual", "Less")
                                 .Default("");
  if (opposite.empty()) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(input) ||
      input.NumDataUses() > 1) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' or '{1}' is fetched, fed, kept or read elsewhere",
                           node.name(), input.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.SetOp(input, opposite);
  arithmetic.ChangesValue();
  return By(input);
}

}  // namespace grapnel::arithmetic
