// Constants that need no computing, or that Grappler's shape inference has found.
//
//   Before:  x:[2,3] -> ZerosLike -> y
//   After:   x -^-> ZerosLike:Const 0 -> y              one number, whatever the shape
//
//   Before:  dims:Const, v:Const -> Fill -> y
//   After:   dims, v -^-> Fill:Const v -> y
//
//   Before:  a:Const, b:Const -> Pack(int32) -> y
//   After:   a, b -^-> Pack:Const [a,b] -> y
//
// Refuses: shapes that are not known in full; dtypes other than numbers and bool; all of the first
// two when experimental_disable_compressed_tensor_optimization is set.
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

bool HasOneElementForm(DataType type) {
  return type == proto::DT_BOOL || IsInteger(type) || type == proto::DT_HALF ||
         type == proto::DT_BFLOAT16 || type == proto::DT_FLOAT || type == proto::DT_DOUBLE;
}

}  // namespace

bool MaterializeFill(Folding& fold, const Node& node) {
  constexpr char kRule[] = "materialize_fill";
  if (!fold.materialize_fills || fold.edit.IsFed(node)) return false;
  const Shape shape = fold.edit.ShapeOf({node.id(), 0});
  if (!shape.IsFullyKnown()) {
    fold.edit.Refuse(kRule, node, "the shape of '{0}' is not known: {1}", node.name(),
                     shape.ToString());
    return false;
  }
  Literal one;
  if (node.op() == "Fill") {
    if (node.num_inputs() != 2 || !fold.IsConst(node.input(0))) return false;
    const Literal* value = fold.ConstantOf(node.input(1));
    if (!value || value->num_elements() != 1 || value->dtype() == proto::DT_STRING) return false;
    one = *value;
  } else {
    DataType type = fold.TypeOf(node);
    if (!HasOneElementForm(type)) return false;
    one = Literal::Scalar(type, node.op() == "OnesLike" ? 1 : 0);
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  bool is_empty = shape.NumElements() == 0;
  fold.BecomeConstant(
      node, Literal::Make(one.dtype(), shape.dims(), is_empty ? llvm::StringRef() : one.bytes()));
  return true;
}

// Grappler's shape inference computes the integers that shapes are put together from, and constant
// folding writes what it has found before it folds anything. The difference is in what the constant
// waits for.
bool MaterializeShapeMath(Folding& fold, const Node& node) {
  if (node.num_inputs() == 0 || !fold.IsConst(node.input(0))) return false;
  bool hands_on = node.op() == "IdentityN";
  if (hands_on ? node.num_inputs() != 1 : NumOutputs(node) != 1) return false;
  DataType type = fold.edit.TypeOf({node.id(), 0});
  if (!hands_on && type != proto::DT_INT32 && type != proto::DT_INT64) return false;
  if (!IsFoldable(fold, node)) return false;
  llvm::SmallVector<Literal, 4> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Literal* value = fold.ConstantOf(node.input(i));
    if (!value || (!hands_on && value->dims().size() > 1)) return false;
    inputs.push_back(*value);
  }
  Literal value = inputs[0];
  if (!hands_on) {
    if (!fold.edit.evaluator()) return false;
    Expected<std::vector<Literal>> values = fold.edit.evaluator()->Evaluate(node, inputs);
    if (!values) {
      llvm::consumeError(values.takeError());  // folding says why it cannot be computed
      return false;
    }
    value = values->front();
    if (value.dims().size() != 1 || llvm::any_of(value.AsInts(), [](int64_t i) { return i < 0; }))
      return false;
  }
  Rewriting rewriting(fold, "materialize_value", node);
  if (!rewriting) return false;
  fold.BecomeConstant(node, value);
  return true;
}

}  // namespace grapnel::constant_folding
