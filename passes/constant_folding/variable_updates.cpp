// Updates of variables that change nothing.
//
//   Before:  h, 0 -> AssignAddVariableOp                ref, 0 -> AssignAdd -> y
//   After:   h, 0 -^-> NoOp                             ref -> Identity -> y
//
// So for Sub, and Scatter by 0 or, with Mul and Div, by 1.
// Refuses: a change that is not constant; a result that is read as the variable itself.
#include "lib/ir/node_types.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "variable_update";

// Whether a reader takes the result as a reference to the variable, which an Identity does not
// give.
bool IsReadAsReference(Folding& fold, const Node& node) {
  for (const Use& use : node.uses()) {
    Node reader = fold.graph.node(use.node);
    const OpInfo* info = DefinitionOf(reader);
    if (static_cast<int>(use.slot) >= reader.num_inputs()) continue;
    if (!info) return true;
    Expected<NodeTypes> types = TypesOf(reader, *info);
    if (!types) {
      llvm::consumeError(types.takeError());
      return true;
    }
    if (use.slot < types->inputs.size() && IsRefType(types->inputs[use.slot])) return true;
  }
  return false;
}

}  // namespace

bool RemoveVariableUpdate(Folding& fold, const Node& node) {
  llvm::StringRef op = node.op();
  int change = op.contains("Scatter") ? 2 : 1;
  if (node.num_inputs() <= change) return false;
  bool is_sum = op.contains("Add") || op.contains("Sub");
  if (is_sum ? !fold.IsZeros(node.input(change)) : !fold.IsOnes(node.input(change))) return false;
  bool by_handle = op.contains("Variable") || op.contains("Resource");
  if (by_handle && node.HasDataUses()) return false;
  if (!by_handle && IsReadAsReference(fold, node)) {
    fold.edit.Refuse(kRule, node, "the variable that '{0}' hands on is written to", node.name());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
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
