// Removes updates of variables that change nothing.
//
//   Before:  h, 0 -> AssignAddVariableOp                ref, 0 -> AssignAdd -> y
//   After:   h, 0 -^-> NoOp                             ref -> Identity -> y
//
// Likewise Sub, and Scatter by 0 or, with Mul and Div, by 1. Refuses: a change that is not
// constant; a result that a node reads as a reference to the variable.
#include "lib/ir/node_types.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// True if a reader takes the result as a reference to the variable, which an Identity cannot
// provide.
bool IsReadAsReference(Folding& rule, const Node& node) {
  for (const Use& use : node.uses()) {
    Node reader = rule.graph.node(use.node);
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

Verdict RemoveVariableUpdate(Folding& rule, const Node& node) {
  llvm::StringRef op = node.op();
  int change = op.contains("Scatter") ? 2 : 1;
  if (node.num_inputs() <= change) return rule.NotMine();
  bool is_sum = op.contains("Add") || op.contains("Sub");
  if (is_sum ? !rule.IsZeros(node.input(change)) : !rule.IsOnes(node.input(change)))
    return rule.NotMine();
  bool by_handle = op.contains("Variable") || op.contains("Resource");
  if (by_handle) return node.HasDataUses() ? rule.NotMine() : rule.BecomeNoOp(node);
  if (IsReadAsReference(rule, node))
    return rule.Refuse(
        "a node may read '{0}' as a reference to the variable\nread the variable itself",
        node.name());
  return rule.BecomeIdentity(node, 0);
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "simplify_select",
     .name = "variable_update",
     .ops = {"AssignAddVariableOp",
             "AssignSubVariableOp",
             "AssignAdd",
             "AssignSub",
             "ScatterAdd",
             "ScatterSub",
             "ScatterMul",
             "ScatterDiv",
             "ScatterNdAdd",
             "ScatterNdSub",
             "ScatterNdMul",
             "ScatterNdDiv",
             "ResourceScatterAdd",
             "ResourceScatterSub",
             "ResourceScatterMul",
             "ResourceScatterDiv",
             "ResourceScatterNdAdd",
             "ResourceScatterNdSub",
             "ResourceScatterNdMul",
             "ResourceScatterNdDiv"},
     .help = "removes updates that do not change the variable",
     .refuses =
         "changes that are not constant; results that are read as a reference to the variable",
     .apply = RemoveVariableUpdate});

}  // namespace
}  // namespace grapnel::constant_folding
