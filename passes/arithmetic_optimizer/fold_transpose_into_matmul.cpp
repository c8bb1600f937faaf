// Folds a Transpose of an operand into the matrix product that reads it.
//
//   Before:  MatMul(Transpose(a, [1,0]), b)     After:  MatMul(a, b, transpose_a=true)
//
// For real numbers, both Transpose and ConjugateTranspose of the last two dimensions fold. For
// complex numbers, BatchMatMul's adj_x and adj_y also conjugate, so only ConjugateTranspose folds;
// MatMul's transpose_a and transpose_b do not, so only Transpose folds.
//
// Refuses: products that are fetched, fed or kept; permutations that are not constant, or do more
// than swap the last two dimensions.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsBatch(const Node& product) { return product.op().starts_with("BatchMatMul"); }

bool SwapsLastTwo(Arithmetic& rule, const Node& transpose) {
  std::optional<std::vector<int64_t>> permutation = rule.ConstantInts(transpose, 1);
  if (!permutation || permutation->size() < 2) return false;
  int64_t rank = static_cast<int64_t>(permutation->size());
  for (int64_t i = 0; i < rank - 2; ++i) {
    if ((*permutation)[i] != i) return false;
  }
  return (*permutation)[rank - 1] == rank - 2 && (*permutation)[rank - 2] == rank - 1;
}

// True if the product can read the input of `operand` and transpose it itself.
bool CanFold(Arithmetic& rule, const Node& product, const Node& operand) {
  if (!operand) return false;
  bool is_complex = product.op() != "SparseMatMul" && IsComplex(product.GetType("T"));
  bool conjugates = operand.op() == "ConjugateTranspose";
  if ((!conjugates && operand.op() != "Transpose") || operand.num_inputs() != 2) return false;
  bool fits = conjugates ? !is_complex || IsBatch(product) : !is_complex || !IsBatch(product);
  if (!fits) {
    rule.NotMine("'{0}' is complex, and {1} {2}\nuse {3}", product.name(), product.op(),
                 conjugates ? "does not conjugate" : "also conjugates",
                 conjugates ? "Transpose" : "ConjugateTranspose");
  }
  return fits && (SwapsLastTwo(rule, operand) ||
                  rule.Fails("'{0}' is not known to swap the last two dimensions only\n"
                             "transpose with a constant permutation that does so, such as [1,0]",
                             operand.name()));
}

Verdict FoldTransposeIntoMatMul(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  bool folds[2];
  for (int i = 0; i < 2; ++i) folds[i] = CanFold(rule, node, rule.Input(node, i));
  if (!folds[0] && !folds[1]) return rule.NotMine();
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  std::string name = Arithmetic::NameFor(node, "FoldTransposeIntoMatMul");
  if (rule.Exists(name)) return rule.NotMine();
  Node made = rule.Copy(name, node);
  llvm::SmallVector<Node, 2> folded;
  for (int i = 0; i < 2; ++i) {
    if (!folds[i]) {
      rule.MarkStaleReader(node, node.input(i));
      continue;
    }
    Node operand = node.input_node(i);
    llvm::StringRef key =
        IsBatch(node) ? (i == 0 ? "adj_x" : "adj_y") : (i == 0 ? "transpose_a" : "transpose_b");
    rule.edit.SetAttr(made, key, attr::Bool(!node.GetBool(key)));
    rule.edit.SetInput(made, i, operand.input(0));
    folded.push_back(operand);
    rule.edit.Used(operand);
  }
  rule.ForwardControls(made, folded);
  return rule.ReplaceBy(made);
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "fold_multiply_into_conv",
     .name = "fold_transpose_into_matmul",
     .ops = {"MatMul", "SparseMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"},
     .help = "folds a Transpose of an operand into the matrix product",
     .refuses = "products that are fetched, fed or kept; permutations that are not known "
                "to swap the last two dimensions only; for complex numbers, "
                "ConjugateTranspose before MatMul and Transpose before BatchMatMul",
     .pattern =
         "(Transpose|ConjugateTranspose(_, Const)); (_, Transpose|ConjugateTranspose(_, Const))",
     .apply = FoldTransposeIntoMatMul});

}  // namespace
}  // namespace grapnel::arithmetic
