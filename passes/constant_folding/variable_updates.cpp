// Updates of variables that change nothing.
//
//   Before:  h, 0 -> AssignAddVariableOp        After:  h, 0 -^-> NoOp
//   Before:  ref, 0 -> AssignAdd -> y           After:  ref -> Identity -> y
//
// So for Sub, and Scatter by 0 or, with Mul and Div, by 1.
// Refuses: a change that is not constant.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool RemoveVariableUpdate(Folding& fold, const Node& node) {
  llvm::StringRef op = node.op();
  int change = op.contains("Scatter") ? 2 : 1;
  if (node.num_inputs() <= change) return false;
  bool is_sum = op.contains("Add") || op.contains("Sub");
  if (is_sum ? !fold.IsZeros(node.input(change)) : !fold.IsOnes(node.input(change))) return false;
  bool by_handle = op.contains("Variable") || op.contains("Resource");
  if (by_handle && node.HasDataUses()) return false;
  Rewriting rewriting(fold, "variable_update", node);
  if (!rewriting) return false;
  if (by_handle) {
    fold.Become(node, "NoOp", {});
    fold.DropAttrs(node);
  } else {
    fold.BecomeIdentity(node, 0);
  }
  return true;
}

}  // namespace grapnel::constant_folding
