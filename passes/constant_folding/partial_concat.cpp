// Concatenates adjacent constant inputs of a concatenation in a node of its own, which then folds.
//
//   Before:  x, c1, c2, z, axis -> ConcatV2 -> y
//   After:   c1, c2, axis -> "ConstantFolding/ConcatV2_partial_split_1":ConcatV2
//            x, partial, z, axis -> ConcatV2 -> y
//
// Refuses: constants that are not adjacent; a concatenation of two tensors, of constants only, or
// that this rule made.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// Makes a concatenation of `run`, the inputs from `first` on.
Node ConcatOfRun(Folding& rule, const Node& node, llvm::ArrayRef<Port> run, Port axis, int first) {
  std::string name = Folding::NameFor(node, "_partial_split");
  do {
    name.append("_").append(std::to_string(first));
  } while (rule.Exists(name));
  llvm::SmallVector<Port, 4> inputs(run.begin(), run.end());
  inputs.push_back(axis);
  Node made = rule.Make(name, "ConcatV2", node.device(), inputs);
  rule.edit.CopyAttrs(made, node);
  rule.edit.SetAttr(made, "N", attr::Int(static_cast<int64_t>(run.size())));
  if (node.op() == "Concat") rule.SetType(made, "Tidx", proto::DT_INT32);
  return made;
}

Verdict FoldPartOfConcat(Folding& rule, const Node& node) {
  if (node.num_inputs() <= 3 || node.name().contains("_partial_split_")) return rule.NotMine();
  bool axis_first = node.op() == "Concat";
  int begin = axis_first ? 1 : 0, end = node.num_inputs() - (axis_first ? 0 : 1);
  Port axis = node.input(axis_first ? 0 : end);
  llvm::SmallVector<std::pair<int, int>, 2> runs;
  for (int i = begin; i < end;) {
    int first = i;
    while (i < end && rule.IsConst(node.input(i))) ++i;
    if (i - first > 1) runs.push_back({first, i});
    if (i == first) ++i;
  }
  if (runs.empty() || runs[0] == std::pair(begin, end)) return rule.NotMine();
  llvm::SmallVector<Port, 4> old = node.inputs(), inputs;
  int next = 0;
  for (auto [first, last] : runs) {
    inputs.append(old.begin() + next, old.begin() + first);
    Node made =
        ConcatOfRun(rule, node, llvm::ArrayRef<Port>(old).slice(first, last - first), axis, first);
    inputs.push_back({made.id(), 0});
    next = last;
  }
  inputs.append(old.begin() + next, old.end());
  rule.edit.SetInputs(node, inputs);
  rule.edit.SetAttr(node, "N", attr::Int(node.num_inputs() - 1));
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kSimplify,
     .after = "merge_concat",
     .name = "partial_concat",
     .ops = {"Concat", "ConcatV2"},
     .help = "joins adjacent constant inputs of a concatenation",
     .refuses =
         "constants that are not adjacent; concatenations of two tensors or of constants only",
     .apply = FoldPartOfConcat});

}  // namespace
}  // namespace grapnel::constant_folding
