// Computes Merge and Switch where they are constant. Neither can be replaced: one of their inputs
// or outputs is dead.
//
//   Before:  x, k:Const -> Merge -> :0 y, :1 z
//   After:   Merge -^-> "ConstantFolding/Merge_const":Const -> y
//                  -^-> "ConstantFolding/Merge_index":Const -> z
//
//   Before:  k:Const, true:Const -> Switch -> :1 y
//   After:   "ConstantFolding/Switch-folded-1":Const -> y
//
// A constant that waits for nothing is what Merge sees first, whatever else arrives.
// Refuses: Merge whose constants wait for something; Switch on a predicate that is not constant.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {

bool FoldMerge(Folding& fold, const Node& node) {
  std::string const_name = Folding::NameFor(node, "_const"),
              index_name = Folding::NameFor(node, "_index");
  if (fold.Exists(const_name) || fold.Exists(index_name) || !node.HasDataUses()) return false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!fold.IsConst(node.input(i)) || node.input_node(i).num_controls() > 0) continue;
    const Literal* value = fold.ConstantOf(node.input(i));
    if (!value) continue;
    Rewriting rewriting(fold, "fold_merge", node);
    if (!rewriting) return false;
    Literal copy = *value;
    if (!node.UsesOf(0).empty())
      fold.Redirect({node.id(), 0}, fold.edit.AddConstant(const_name, copy, node.device(), node));
    if (!node.UsesOf(1).empty()) {
      fold.Redirect({node.id(), 1},
                    fold.edit.AddConstant(index_name, Literal::Scalar(proto::DT_INT32, i),
                                          node.device(), node));
    }
    return true;
  }
  return false;
}

bool FoldSwitch(Folding& fold, const Node& node) {
  if (node.op() != "Switch" || node.num_inputs() != 2) return false;
  const Literal* data = fold.ConstantOf(node.input(0));
  const Literal* predicate = fold.ConstantOf(node.input(1));
  if (!data || !predicate || predicate->num_elements() != 1) return false;
  int32_t alive = predicate->AsInt(0) != 0;
  std::string name = Folding::NameFor(node, "-folded-" + llvm::Twine(alive));
  if (fold.Exists(name) || (node.UsesOf(alive).empty() && fold.NumControlUses(node) == 0))
    return false;
  Rewriting rewriting(fold, "fold_switch", node);
  if (!rewriting) return false;
  Literal value = *data;
  llvm::SmallVector<Node, 4> controls;
  for (const Node& from : {node.input_node(0), node.input_node(1), node}) {
    for (int i = 0; i < from.num_controls(); ++i) controls.push_back(from.control(i));
  }
  Node made = fold.edit.AddConstant(name, value, node.device(), controls);
  fold.Redirect({node.id(), alive}, made);
  llvm::SmallVector<Node, 4> waiting;
  for (const Use& use : node.uses()) {
    Node reader = fold.graph.node(use.node);
    if (static_cast<int>(use.slot) >= reader.num_inputs()) waiting.push_back(reader);
  }
  for (const Node& reader : waiting) {
    fold.edit.RemoveControl(reader, node);
    fold.edit.AddControl(reader, made);
  }
  return true;
}

}  // namespace grapnel::constant_folding
