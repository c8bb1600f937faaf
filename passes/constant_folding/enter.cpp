// Lets the body of a loop have a constant that goes in unchanged.
//
//   Before:  k:Const -> Enter(is_constant) -> y
//   After:   Enter -^-> "ConstantFolding/k_enter":Const -> y
//
// The copy waits for the Enter, so that it belongs to the loop's frame.
// Refuses: an Enter that is not marked is_constant; a constant that has such a copy already.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool MoveConstantsPastEnter(Folding& fold, const Node& node) {
  constexpr char kRule[] = "constant_past_enter";
  if (node.num_inputs() != 1 || !fold.IsConst(node.input(0)) || !node.HasDataUses()) return false;
  Node constant = node.input_node(0);
  if (!node.GetBool("is_constant")) {
    fold.edit.Refuse(kRule, node, "'{0}' is not marked is_constant", node.name());
    return false;
  }
  std::string name = Folding::NameFor(constant, "_enter");
  if (fold.Exists(name)) {
    fold.edit.Refuse(kRule, node, "'{0}' has a copy in a loop already", constant.name());
    return false;
  }
  const Literal* value = fold.ConstantOf(node.input(0));
  if (!value) return false;
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  // The attributes are shared with the constant: nothing is copied.
  Node made = fold.edit.AddNode(name, constant.op(), node.device());
  fold.edit.CopyAttrs(made, constant);
  fold.edit.AddControl(made, node);
  fold.Redirect({node.id(), 0}, made);
  return true;
}

}  // namespace grapnel::constant_folding
