// Folds the live output of a Switch whose data and predicate are constant. The Switch stays if a
// dead output has readers, if it must stay, or if nothing is fetched.
//
//   Before:  k:Const, true:Const -> Switch -> :1 y
//   After:   "ConstantFolding/Switch-folded-1":Const -> y
//
// Refuses: data or a predicate that is not constant.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The live output; for a _SwitchN whose index is out of range, the last output.
int32_t AliveOutput(const Node& node, const Literal& index) {
  int64_t chosen = index.AsInt(0);
  if (node.op() == "Switch") return chosen != 0;
  int64_t last = node.GetInt("num_outs") - 1;
  return static_cast<int32_t>(chosen >= 0 && chosen < last ? chosen : last);
}

Verdict FoldSwitch(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  const Literal* data = rule.ConstantOf(node.input(0));
  const Literal* predicate = rule.ConstantOf(node.input(1));
  if (!data || !predicate || predicate->num_elements() != 1) return rule.NotMine();
  int32_t alive = AliveOutput(node, *predicate);
  if (alive < 0) return rule.NotMine();
  std::string name = Folding::NameFor(node, "-folded-" + llvm::Twine(alive));
  if (rule.Exists(name) || (node.UsesOf(alive).empty() && !rule.DrivesControls(node)))
    return rule.NotMine();
  Node made = rule.edit.AddConstant(name, *data, node.device(), Folding::ControlsBehind(node));
  rule.edit.RedirectPort({node.id(), alive}, {made.id(), 0});
  llvm::SmallVector<Node, 4> waiting;
  for (const Use& use : node.uses()) {
    Node reader = rule.graph.node(use.node);
    if (static_cast<int>(use.slot) >= reader.num_inputs()) waiting.push_back(reader);
  }
  for (const Node& reader : waiting) {
    rule.edit.RemoveControl(reader, node);
    rule.edit.AddControl(reader, made);
  }
  rule.RemoveIfUnread(node);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kFold,
              .after = "fold_merge",
              .name = "fold_switch",
              .ops = {"Switch", "_SwitchN"},
              .help = "folds the live output of a Switch whose inputs are constant",
              .refuses = "data or a predicate that is not constant",
              .apply = FoldSwitch});

}  // namespace
}  // namespace grapnel::constant_folding
