// A transposition conjugates itself, or stops to.
//
//   Before:  Conj(Transpose(x)), Transpose(Conj(x))     After:  ConjugateTranspose(x)
//   Before:  Conj(ConjugateTranspose(x))                After:  Transpose(x)
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Simplified FoldConjugateIntoTranspose(Arithmetic& arithmetic, const Node& node) {
  Node input = arithmetic.Input(node, 0);
  if (!input) return std::nullopt;
  Node transpose = node.op() == "Conj" ? input : node, conj = node.op() == "Conj" ? node : input;
  if (conj.op() != "Conj" ||
      (transpose.op() != "Transpose" && transpose.op() != "ConjugateTranspose"))
    return std::nullopt;
  std::string name = Arithmetic::NameFor(node, "FoldConjugateIntoTranspose");
  if (arithmetic.Exists(name) || !arithmetic.Begin("fold_conjugate_into_transpose", node))
    return std::nullopt;
  arithmetic.edit.Used(input);
  Node made = arithmetic.Copy(name, transpose);
  arithmetic.edit.SetOp(made, transpose.op() == "Transpose" ? "ConjugateTranspose" : "Transpose");
  arithmetic.edit.SetInput(made, 0, input.input(0));
  arithmetic.ForwardControls(made, {node, input});
  return By(made);
}

}  // namespace grapnel::arithmetic
