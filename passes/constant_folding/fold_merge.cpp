// Folds the outputs of a Merge whose first arriving input is a constant. The Merge stays, because
// it may wait for dead inputs.
//
//   Before:  x, k:Const -> Merge -> :0 y, :1 z
//   After:   Merge -^-> "ConstantFolding/Merge_const":Const -> y
//                  -^-> "ConstantFolding/Merge_index":Const -> z
//
// A constant without control inputs arrives at the Merge before any other input.
//
// Refuses: a Merge whose constants all have control inputs.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The first input that is a constant without control inputs, or -1.
int FirstConstant(Folding& rule, const Node& node) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (rule.ConstantOf(node.input(i)) && node.input_node(i).num_controls() == 0) return i;
  }
  return -1;
}

// Makes readers of the port read a constant instead, which waits for the Merge.
void Replace(Folding& rule, Port port, const std::string& name, const Literal& value) {
  Node node = rule.graph.node(port.node);
  if (node.UsesOf(port.index).empty()) return;
  Node made = rule.edit.AddConstant(name, value, node.device(), node);
  rule.edit.RedirectPort(port, {made.id(), 0});
}

Verdict FoldMerge(Folding& rule, const Node& node) {
  std::string const_name = Folding::NameFor(node, "_const"),
              index_name = Folding::NameFor(node, "_index");
  if (rule.Exists(const_name) || rule.Exists(index_name) || !node.HasDataUses())
    return rule.NotMine();
  int first = FirstConstant(rule, node);
  if (first < 0) return rule.NotMine();
  Replace(rule, {node.id(), 0}, const_name, *rule.ConstantOf(node.input(first)));
  Replace(rule, {node.id(), 1}, index_name, Literal::Scalar(proto::DT_INT32, first));
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kFold,
              .after = kFirst,
              .name = "fold_merge",
              .ops = {"Merge", "RefMerge", "_XlaMerge"},
              .help = "folds the outputs of a Merge that a constant reaches first",
              .refuses = "Merges whose constants all have control inputs",
              .apply = FoldMerge});

}  // namespace
}  // namespace grapnel::constant_folding
