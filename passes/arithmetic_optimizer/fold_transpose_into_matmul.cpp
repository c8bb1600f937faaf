// A matrix product transposes its operands itself.
//
//   Before:  MatMul(Transpose(a, [1,0]), b)     After:  MatMul(a, b, transpose_a=true)
//
// BatchMatMul of real numbers takes Transpose and ConjugateTranspose of the last two dimensions;
// of complex ones it conjugates, and so takes ConjugateTranspose only, as MatMul takes Transpose.
//
// Refuses: products that are fetched, fed or kept; permutations that are not constant, or do more
// than swap the last two dimensions.
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool SwapsLastTwo(Arithmetic& arithmetic, const Node& transpose) {
  std::optional<std::vector<int64_t>> permutation = arithmetic.IntegersOf(transpose.input(1));
  if (!permutation || permutation->size() < 2) return false;
  int64_t rank = static_cast<int64_t>(permutation->size());
  for (int64_t i = 0; i < rank - 2; ++i) {
    if ((*permutation)[i] != i) return false;
  }
  return (*permutation)[rank - 1] == rank - 2 && (*permutation)[rank - 2] == rank - 1;
}

}  // namespace

Simplified FoldTransposeIntoMatMul(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "fold_transpose_into_matmul";
  if (node.num_inputs() != 2) return std::nullopt;
  bool is_batch = node.op().starts_with("BatchMatMul");
  bool is_complex = node.op() != "SparseMatMul" && IsComplex(node.GetType("T"));
  auto is_foldable_op = [&](const Node& operand) {
    if (operand.op() == "Transpose") return !is_complex || !is_batch;
    return operand.op() == "ConjugateTranspose" && (!is_complex || is_batch);
  };
  bool folds[2], any = false;
  for (int i = 0; i < 2; ++i) {
    Node operand = node.input_node(i);
    folds[i] = is_foldable_op(operand) && operand.num_inputs() == 2;
    if (folds[i] && !SwapsLastTwo(arithmetic, operand)) {
      arithmetic.edit.Refuse(kRule, node, "'{0}' is not known to swap the last two dimensions only",
                             operand.name());
      folds[i] = false;
    }
    any |= folds[i];
  }
  if (!any) return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  std::string name = Arithmetic::NameFor(node, "FoldTransposeIntoMatMul");
  if (arithmetic.Exists(name) || !arithmetic.Begin(kRule, node)) return std::nullopt;
  Node made = arithmetic.Copy(name, node);
  llvm::SmallVector<Node, 2> folded;
  for (int i = 0; i < 2; ++i) {
    if (!folds[i]) {
      arithmetic.LoseTrack(node, node.input(i));
      continue;
    }
    Node operand = node.input_node(i);
    llvm::StringRef key =
        is_batch ? (i == 0 ? "adj_x" : "adj_y") : (i == 0 ? "transpose_a" : "transpose_b");
    arithmetic.edit.SetAttr(made, key, attr::Bool(!node.GetBool(key)));
    arithmetic.edit.SetInput(made, i, operand.input(0));
    folded.push_back(operand);
    arithmetic.edit.Used(operand);
  }
  arithmetic.ForwardControls(made, folded);
  return By(made);
}

}  // namespace grapnel::arithmetic
