// Takes a concatenation into the one that reads it.
//
//   Before:  ConcatV2(ConcatV2(x, y, 0), z, 0) -> w
//   After:   ConcatV2(x, y, z, 0) -> w
//
// Refuses: another axis, or one that is not constant; an inner one that others read, that must
// stay, or whose inputs are all constant, because it folds; inputs on more than one task, where the
// inner one saves a transfer.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "merge_concat";

std::optional<int64_t> AxisOf(Folding& fold, const Node& node) {
  if (node.op() != "ConcatV2" || node.num_inputs() < 2) return std::nullopt;
  std::optional<std::vector<int64_t>> axis = fold.IntegersOf(node.input(node.num_inputs() - 1));
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

// What the outer one reads afterwards: data, then what both waited for.
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

bool IsAllowed(Folding& fold, const Node& outer, const Node& inner) {
  auto refuse = [&](const char* format, const Node& named) {
    fold.edit.Refuse(kRule, inner, format, named.name());
    return false;
  };
  if (fold.edit.IsPreserved(inner)) return refuse("'{0}' must stay as it is", inner);
  auto is_other = [&](const Use& use) { return use.node != outer.id(); };
  if (llvm::any_of(inner.uses(), is_other)) return refuse("'{0}' has other readers", inner);
  bool all_constant = true;
  for (int i = 0; i + 1 < inner.num_inputs(); ++i) all_constant &= fold.IsConst(inner.input(i));
  if (all_constant) return false;
  return IsOnOneTask(outer) || refuse("the inputs of '{0}' are on several tasks", outer);
}

}  // namespace

bool MergeConcats(Folding& fold, const Node& inner) {
  std::optional<int64_t> axis = AxisOf(fold, inner);
  if (!axis || inner.uses().empty()) return false;
  Node outer = fold.graph.node(inner.uses().front().node);
  std::optional<int64_t> outer_axis = AxisOf(fold, outer);
  if (!outer_axis || outer.input(outer.num_inputs() - 1).node == inner.id()) return false;
  if (*axis != *outer_axis) {
    fold.edit.Refuse(kRule, inner, "'{0}' joins along another axis", outer.name());
    return false;
  }
  if (!IsAllowed(fold, outer, inner)) return false;
  Rewriting rewriting(fold, kRule, inner);
  if (!rewriting) return false;
  fold.edit.SetInputs(outer, JointInputs(outer, inner));
  fold.edit.SetAttr(outer, "N", attr::Int(outer.num_inputs() - 1));
  if (fold.has_fetches) {
    fold.edit.RemoveNode(inner);
  } else {
    fold.Become(inner, "NoOp", {});
    fold.DropAttrs(inner);
  }
  return true;
}

}  // namespace grapnel::constant_folding
