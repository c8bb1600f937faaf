// Computes the constant inputs of a sum or concatenation of which others are not constant.
//
//   Before:  x, c1, z, c2 -> AddN -> y
//   After:   c1, c2 -> "ConstantFolding/AddN_partial_split_2":AddN
//            x, partial, z -> AddN -> y
//
//   Before:  x, c1, c2, z, axis -> ConcatV2 -> y
//   After:   c1, c2, axis -> "ConstantFolding/ConcatV2_partial_split_1":ConcatV2
//            x, partial, z, axis -> ConcatV2 -> y
//
// An AccumulateNV2 of constants only becomes an AddN, which has a kernel.
// Refuses: fewer than two constants; for a concatenation, constants that are not neighbours.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

// `values` [begin, end) of a concatenation as a node of its own.
Node ConcatOfRun(Folding& fold, const Node& node, llvm::ArrayRef<Port> run, Port axis, int first) {
  std::string name = Folding::NameFor(node, "_partial_split");
  do {
    name += "_" + std::to_string(first);
  } while (fold.Exists(name));
  Node made = fold.edit.AddNode(name, "ConcatV2", node.device());
  fold.edit.CopyAttrs(made, node);
  fold.edit.SetAttr(made, "N", attr::Int(static_cast<int64_t>(run.size())));
  if (node.op() == "Concat") fold.edit.SetAttr(made, "Tidx", attr::Type(proto::DT_INT32));
  llvm::SmallVector<Port, 4> inputs(run.begin(), run.end());
  inputs.push_back(axis);
  fold.edit.SetInputs(made, inputs);
  return made;
}

}  // namespace

bool FoldPartOfAddN(Folding& fold, const Node& node) {
  constexpr char kRule[] = "partial_add_n";
  if (node.num_inputs() <= 2) return false;
  llvm::SmallVector<Port, 4> constants;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (fold.IsConst(node.input(i))) constants.push_back(node.input(i));
  }
  int count = static_cast<int>(constants.size());
  if (count == node.num_inputs()) {
    if (node.op() != "AccumulateNV2") return false;
    Rewriting rewriting(fold, kRule, node);
    if (!rewriting) return false;
    fold.edit.SetOp(node, "AddN");
    fold.edit.RemoveAttr(node, "shape");
    return true;
  }
  std::string name = Folding::NameFor(node, "_partial_split_" + llvm::Twine(count));
  if (count < 2 || fold.Exists(name)) return false;
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  Node made = fold.edit.AddNode(name, "AddN", node.device());
  fold.edit.CopyAttrs(made, node);
  fold.edit.RemoveAttr(made, "shape");
  fold.edit.SetAttr(made, "N", attr::Int(count));
  fold.edit.SetInputs(made, constants);
  llvm::SmallVector<Port, 4> inputs;
  bool added = false;
  for (Port port : node.inputs()) {
    if (!fold.IsConst(port)) {
      inputs.push_back(port);
    } else if (!added) {
      inputs.push_back({made.id(), 0});
      added = true;
    }
  }
  fold.edit.SetAttr(node, "N", attr::Int(node.num_inputs() - count + 1));
  fold.edit.SetInputs(node, inputs);
  return true;
}

bool FoldPartOfConcat(Folding& fold, const Node& node) {
  constexpr char kRule[] = "partial_concat";
  if (node.num_inputs() <= 3 || node.name().contains("_partial_split_")) return false;
  bool axis_first = node.op() == "Concat";
  int begin = axis_first ? 1 : 0, end = node.num_inputs() - (axis_first ? 0 : 1);
  Port axis = node.input(axis_first ? 0 : end);
  llvm::SmallVector<std::pair<int, int>, 2> runs;
  for (int i = begin; i < end;) {
    int first = i;
    while (i < end && fold.IsConst(node.input(i))) ++i;
    if (i - first > 1) runs.push_back({first, i});
    if (i == first) ++i;
  }
  if (runs.empty() || runs[0] == std::pair(begin, end)) return false;
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  llvm::SmallVector<Port, 4> old = node.inputs(), inputs;
  int next = 0;
  for (auto [first, last] : runs) {
    inputs.append(old.begin() + next, old.begin() + first);
    Node made =
        ConcatOfRun(fold, node, llvm::ArrayRef<Port>(old).slice(first, last - first), axis, first);
    inputs.push_back({made.id(), 0});
    next = last;
  }
  inputs.append(old.begin() + next, old.end());
  fold.edit.SetInputs(node, inputs);
  fold.edit.SetAttr(node, "N", attr::Int(node.num_inputs() - 1));
  return true;
}

}  // namespace grapnel::constant_folding
