// Two ops for which there is one, or a cheaper pair.
//
//   Before:  Div(x, s = Sqrt(y))     After:  Mul(x, s = Rsqrt(y))
//   Before:  Square(s = Sub(x, y))   After:  Identity(s = SquaredDifference(x, y))
//   Before:  Log(s = Softmax(x))     After:  LogSoftmax(s = Identity(x))
//
// Both nodes change in place; Xdivy(x, Sqrt(y)) becomes MulNoNan(Rsqrt(y), x).
//
// Refuses: an inner op that is fetched, fed, kept or read elsewhere; FloorDiv and DivNoNan; squares
// of complex numbers, of which SquaredDifference takes the conjugate.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsOwn(Arithmetic& arithmetic, const char* rule, const Node& node, const Node& inner) {
  if (!arithmetic.edit.IsPreserved(inner) && inner.NumDataUses() == 1) return true;
  arithmetic.edit.Refuse(rule, node, "'{0}' is fetched, fed, kept or read elsewhere", inner.name());
  return false;
}

}  // namespace

Simplified ConvertSqrtDiv(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "convert_sqrt_div";
  Node root = arithmetic.Input(node, 1);
  if (!root || root.op() != "Sqrt" || !IsOwn(arithmetic, kRule, node, root)) return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  if (node.op() == "Xdivy") {
    Port x = node.input(0);
    arithmetic.edit.SetOp(node, "MulNoNan");
    arithmetic.edit.SetInput(node, 0, node.input(1));
    arithmetic.edit.SetInput(node, 1, x);
  } else {
    arithmetic.edit.SetOp(node, "Mul");
  }
  arithmetic.edit.SetOp(root, "Rsqrt");
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(root);
  return std::nullopt;
}

Simplified FuseSquaredDiff(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "fuse_squared_diff";
  Node difference = arithmetic.Input(node, 0);
  if (!difference || difference.op() != "Sub" || !IsOwn(arithmetic, kRule, node, difference))
    return std::nullopt;
  if (IsComplex(difference.GetType("T"))) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is complex", difference.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.SetOp(node, "Identity");
  arithmetic.edit.SetOp(difference, "SquaredDifference");
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(difference);
  return std::nullopt;
}

Simplified ConvertLogSoftmax(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "convert_log_softmax";
  Node softmax = arithmetic.Input(node, 0);
  if (!softmax || softmax.op() != "Softmax" || !IsOwn(arithmetic, kRule, node, softmax))
    return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.SetOp(node, "LogSoftmax");
  arithmetic.edit.SetOp(softmax, "Identity");
  arithmetic.Enqueue(node);
  arithmetic.Enqueue(softmax);
  return std::nullopt;
}

}  // namespace grapnel::arithmetic
