// Folds Conj into a transposition, which then conjugates, or no longer does.
//
//   Before:  Conj(Transpose(x)), Transpose(Conj(x))     After:  ConjugateTranspose(x)
//   Before:  Conj(ConjugateTranspose(x)), ConjugateTranspose(Conj(x))     After:  Transpose(x)
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

Verdict FoldConjugateIntoTranspose(Arithmetic& rule, const Node& node) {
  Node input = rule.Input(node, 0);
  if (!input) return rule.NotMine();
  Node transpose = node.op() == "Conj" ? input : node, conj = node.op() == "Conj" ? node : input;
  if (conj.op() != "Conj" ||
      (transpose.op() != "Transpose" && transpose.op() != "ConjugateTranspose"))
    return rule.NotMine();
  std::string name = Arithmetic::NameFor(node, "FoldConjugateIntoTranspose");
  if (rule.Exists(name)) return rule.NotMine();
  rule.edit.Used(input);
  Node made = rule.Copy(name, transpose);
  rule.edit.SetOp(made, transpose.op() == "Transpose" ? "ConjugateTranspose" : "Transpose");
  rule.edit.SetInput(made, 0, input.input(0));
  rule.ForwardControls(made, {node, input});
  return rule.ReplaceBy(made);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "add_ops_rewrite",
              .name = "fold_conjugate_into_transpose",
              .ops = {"Conj", "Transpose", "ConjugateTranspose"},
              .help = "Conj and Transpose become ConjugateTranspose, Conj and ConjugateTranspose "
                      "become Transpose",
              .pattern = "Conj(Transpose|ConjugateTranspose); Transpose|ConjugateTranspose(Conj)",
              .apply = FoldConjugateIntoTranspose});

}  // namespace
}  // namespace grapnel::arithmetic
