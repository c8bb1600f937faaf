// Adds up the constant inputs of a sum in a node of its own, which then folds.
//
//   Before:  x, c1, z, c2 -> AddN -> y
//   After:   c1, c2 -> "ConstantFolding/AddN_partial_split_2":AddN
//            x, partial, z -> AddN -> y
//
// An AccumulateNV2 whose inputs are all constant becomes an AddN, which has a kernel.
// Refuses: fewer than two constants; a sum of two; an AddN of constants only, which folds anyway.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

Verdict FoldPartOfAddN(Folding& rule, const Node& node) {
  if (node.num_inputs() <= 2) return rule.NotMine();
  llvm::SmallVector<Port, 4> constants;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (rule.IsConst(node.input(i))) constants.push_back(node.input(i));
  }
  int count = static_cast<int>(constants.size());
  if (count == node.num_inputs()) {
    if (node.op() != "AccumulateNV2") return rule.NotMine();
    rule.edit.SetOp(node, "AddN");
    rule.edit.RemoveAttr(node, "shape");
    return rule.Done();
  }
  std::string name = Folding::NameFor(node, "_partial_split_" + llvm::Twine(count));
  if (count < 2 || rule.Exists(name)) return rule.NotMine();
  Node made = rule.Make(name, "AddN", node.device(), constants);
  rule.edit.CopyAttrs(made, node);
  rule.edit.RemoveAttr(made, "shape");
  rule.edit.SetAttr(made, "N", attr::Int(count));
  llvm::SmallVector<Port, 4> inputs;
  bool added = false;
  for (Port port : node.inputs()) {
    if (!rule.IsConst(port)) {
      inputs.push_back(port);
    } else if (!added) {
      inputs.push_back({made.id(), 0});
      added = true;
    }
  }
  rule.edit.SetAttr(node, "N", attr::Int(node.num_inputs() - count + 1));
  rule.edit.SetInputs(node, inputs);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "forward_identity_n",
     .name = "partial_add_n",
     .ops = {"AddN", "AccumulateNV2"},
     .help = "adds up the constant inputs of a sum on their own, so that they fold",
     .refuses = "fewer than two constants; sums of two; sums of constants only, which fold",
     .apply = FoldPartOfAddN});

}  // namespace
}  // namespace grapnel::constant_folding
