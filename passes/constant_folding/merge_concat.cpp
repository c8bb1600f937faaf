// Merges a concatenation into the one that reads it.
//
//   Before:  ConcatV2(ConcatV2(x, y, 0), z, 0) -> w
//   After:   ConcatV2(x, y, z, 0) -> w
//
// Refuses: another axis, or an axis that is not constant; an inner concatenation that other nodes
// read, that must stay, or whose inputs are all constant, because it folds; inputs on more than one
// task, where the inner concatenation saves a transfer.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

std::optional<int64_t> AxisOf(Folding& rule, const Node& node) {
  if (node.op() != "ConcatV2" || node.num_inputs() < 2) return std::nullopt;
  std::optional<std::vector<int64_t>> axis = rule.ConstantInts(node, node.num_inputs() - 1);
  if (!axis || axis->size() != 1) return std::nullopt;
  return axis->front();
}

bool IsOnOneTask(const Node& node) {
  llvm::StringSet<> tasks;
  for (int i = 0; i + 1 < node.num_inputs(); ++i) {
    std::optional<std::string> task = TaskOf(node.input_node(i).device());
    if (task) tasks.insert(*task);
  }
  return tasks.size() < 2;
}

// The inputs of the merged concatenation: data, then the control inputs of both.
llvm::SmallVector<Port, 8> JointInputs(const Node& outer, const Node& inner) {
  llvm::SmallVector<Port, 8> inputs;
  for (int i = 0; i < outer.num_inputs(); ++i) {
    if (outer.input(i).node != inner.id()) {
      inputs.push_back(outer.input(i));
    } else {
      for (int k = 0; k + 1 < inner.num_inputs(); ++k) inputs.push_back(inner.input(k));
    }
  }
  for (const Node& node : {outer, inner}) {
    for (int i = 0; i < node.num_controls(); ++i) {
      Port control = {node.control(i).id(), kControlPort};
      if (control.node != inner.id() && !llvm::is_contained(inputs, control))
        inputs.push_back(control);
    }
  }
  return inputs;
}

bool IsAllowed(Folding& rule, const Node& outer, const Node& inner) {
  if (rule.IsPreserved(inner))
    return rule.Fails(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        inner.name());
  auto is_other = [&](const Use& use) { return use.node != outer.id(); };
  if (llvm::any_of(inner.uses(), is_other))
    return rule.Fails("'{0}' has other readers\nleave it one reader: {1}", inner.name(),
                      rule.ObstaclesAt({inner}, Obstacles::kReaders | Obstacles::kControls));
  bool all_constant = true;
  for (int i = 0; i + 1 < inner.num_inputs(); ++i) all_constant &= rule.IsConst(inner.input(i));
  if (all_constant) return false;
  return IsOnOneTask(outer) ||
         rule.Fails("the inputs of '{0}' are on several tasks\nplace them on one task",
                    outer.name());
}

Verdict MergeConcats(Folding& rule, const Node& inner) {
  std::optional<int64_t> axis = AxisOf(rule, inner);
  if (!axis || inner.uses().empty()) return rule.NotMine();
  Node outer = rule.graph.node(inner.uses().front().node);
  std::optional<int64_t> outer_axis = AxisOf(rule, outer);
  if (!outer_axis || outer.input(outer.num_inputs() - 1).node == inner.id()) return rule.NotMine();
  if (*axis != *outer_axis)
    return rule.Refuse("'{0}' joins along axis {1}, and '{2}' along axis {3}\njoin along one axis",
                       outer.name(), *outer_axis, inner.name(), *axis);
  if (!IsAllowed(rule, outer, inner)) return rule.Refused();
  rule.edit.SetInputs(outer, JointInputs(outer, inner));
  rule.edit.SetAttr(outer, "N", attr::Int(outer.num_inputs() - 1));
  if (!rule.has_fetches) return rule.BecomeNoOp(inner);
  rule.edit.RemoveNode(inner);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "partial_add_n",
     .name = "merge_concat",
     .ops = {"ConcatV2"},
     .help = "merges a concatenation into the one that reads it",
     .refuses = "axes that differ or are not constant; inner concatenations that others read, that "
                "are fetched, fed or kept, or that fold; inputs on several tasks",
     .pattern = "ConcatV2(ConcatV2); ConcatV2(_, ConcatV2)",
     .apply = MergeConcats});

}  // namespace
}  // namespace grapnel::constant_folding
