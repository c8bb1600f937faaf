// Lets the body of a loop read a constant that enters the loop unchanged.
//
//   Before:  k:Const -> Enter(is_constant) -> y
//   After:   Enter -^-> "ConstantFolding/k_enter":Const -> y
//
// The copy waits for the Enter, so that it belongs to the loop's frame.
//
// Refuses: an Enter that is not marked is_constant; a constant that already has such a copy.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict MoveConstantsPastEnter(Folding& rule, const Node& node) {
  if (node.num_inputs() != 1 || !rule.IsConst(node.input(0)) || !node.HasDataUses())
    return rule.NotMine();
  Node constant = node.input_node(0);
  if (!node.GetBool("is_constant"))
    return rule.Refuse("'{0}' is not marked is_constant\npass it as a loop invariant", node.name());
  std::string name = Folding::NameFor(constant, "_enter");
  if (rule.Exists(name))
    return rule.Refuse(
        "'{0}' already has a copy in a loop\nuse a constant of its own for each loop",
        constant.name());
  if (!rule.ConstantOf(node.input(0))) return rule.NotMine();
  // The new node shares the constant's value in memory.
  Node made = rule.edit.AddNode(name, constant.op(), node.device());
  rule.edit.CopyAttrs(made, constant);
  rule.edit.AddControl(made, node);
  rule.edit.RedirectPort({node.id(), 0}, {made.id(), 0});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "simplify_pack",
              .name = "constant_past_enter",
              .ops = {"Enter", "RefEnter"},
              .help = "the body of a loop reads a copy of a constant instead of its Enter",
              .refuses = "an Enter not marked is_constant; constants that already have a copy",
              .apply = MoveConstantsPastEnter});

}  // namespace
}  // namespace grapnel::constant_folding
