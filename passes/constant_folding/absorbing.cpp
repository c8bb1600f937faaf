// Arithmetic with a constant that decides the result, whatever the other side.
//
//   Before:  x:int32[2,2], 0 -> Mul -> y          (MatMul, LogicalAnd alike)
//   After:   x, 0 -^-> Mul:Const 0 -> y
//
//   Before:  x:bool[2], true -> LogicalOr -> y
//   After:   x, true -^-> LogicalOr:Const true -> y
//
// Refuses: floating point, where 0 * NaN is NaN; a result whose shape is not known.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "absorbing_element";

bool BecomeSplat(Folding& fold, const Node& node, DataType type, const Shape& shape, double value) {
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  Literal one = Literal::Scalar(type, value);
  bool is_empty = shape.NumElements() == 0;
  fold.BecomeConstant(
      node, Literal::Make(type, shape.dims(), is_empty ? llvm::StringRef() : one.bytes()));
  return true;
}

// The shape of the result is not known in full, but it is that of the zeros.
bool ForwardZeros(Folding& fold, const Node& node, int zeros) {
  Shape zero = fold.ShapeOf(node.input(zeros)), other = fold.ShapeOf(node.input(1 - zeros));
  if (!Folding::BroadcastsInto(other, zero)) {
    fold.edit.Refuse(kRule, node, "the shape of '{0}' is not known", node.name());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  fold.BecomeIdentity(node, zeros);
  return true;
}

}  // namespace

bool SimplifyAbsorbing(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2 || fold.shapes_lost.contains(node.id())) return false;
  bool is_or = node.op() == "LogicalOr",
       is_division = node.op().contains("Div") || node.op() == "Xdivy";
  bool is_product = node.op() == "Mul" || node.op() == "MulNoNan" || node.op() == "LogicalAnd";
  if (is_division && !fold.aggressive) return false;  // 0 / x may divide by zero
  auto decides = [&](int i) {
    return is_or ? fold.IsOnes(node.input(i)) : fold.IsZeros(node.input(i));
  };
  bool x = decides(0), y = !is_division && decides(1);
  if (!x && !y) return false;
  DataType type = fold.TypeOf(node);
  if (!IsInteger(type) && type != proto::DT_BOOL) {
    fold.edit.Refuse(kRule, node, "a {0} of '{1}' may be NaN", DataTypeName(type),
                     node.input_node(x ? 1 : 0).name());
    return false;
  }
  const Shape output = fold.edit.ShapeOf({node.id(), 0});
  if (output.IsFullyKnown()) return BecomeSplat(fold, node, type, output, is_or ? 1 : 0);
  return (is_product || is_division) && ForwardZeros(fold, node, x ? 0 : 1);
}

}  // namespace grapnel::constant_folding
