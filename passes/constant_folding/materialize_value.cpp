// Computes vectors of integers that are built for use as shapes, and stores them as constants.
// Grappler's shape inference computes these, so its constant folding writes them before it folds
// other nodes. Unlike a node that `fold` computes, the constant waits for the former inputs
// themselves.
//
//   Before:  a:Const, b:Const -> Pack(int32) -> y
//   After:   a, b -^-> Pack:Const [a,b] -> y
//
// An IdentityN of one constant is handled likewise, for any dtype.
//
// Refuses: nodes that folding refuses; dtypes other than int32 and int64; tensors with more than
// one dimension, and results that are not vectors or have a negative number.
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The value of `node` for these constant inputs; nullopt if Grappler's shape inference would not
// compute it.
std::optional<Literal> Compute(Folding& rule, const Node& node, llvm::ArrayRef<Literal> inputs) {
  if (!rule.edit.evaluator()) return std::nullopt;
  Expected<std::vector<Literal>> values = rule.edit.evaluator()->Evaluate(node, inputs);
  if (!values) {
    llvm::consumeError(values.takeError());  // folding reports why it cannot be computed
    return std::nullopt;
  }
  const Literal& value = values->front();
  if (value.dims().size() != 1 || llvm::any_of(value.AsInts(), [](int64_t i) { return i < 0; }))
    return std::nullopt;
  return value;
}

Verdict MaterializeValue(Folding& rule, const Node& node) {
  if (node.num_inputs() == 0 || !rule.IsConst(node.input(0))) return rule.NotMine();
  bool hands_on = node.op() == "IdentityN";
  if (hands_on ? node.num_inputs() != 1 : NumOutputs(node) != 1) return rule.NotMine();
  DataType type = rule.edit.TypeOf({node.id(), 0});
  if (!hands_on && type != proto::DT_INT32 && type != proto::DT_INT64) return rule.NotMine();
  if (!IsFoldable(rule, node)) return rule.NotMine();
  llvm::SmallVector<Literal, 4> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Literal* value = rule.ConstantOf(node.input(i));
    if (!value || (!hands_on && value->dims().size() > 1)) return rule.NotMine();
    inputs.push_back(*value);
  }
  std::optional<Literal> value = hands_on ? inputs[0] : Compute(rule, node, inputs);
  return value ? rule.BecomeConstant(node, *value) : rule.NotMine();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kValues,
     .after = "materialize_fill",
     .name = "materialize_value",
     .ops = {"Pack", "ConcatV2", "Slice", "StridedSlice", "IdentityN"},
     .help = "computes integer vectors, such as shapes, before other nodes, and stores them as "
             "constants",
     .refuses = "what `fold` refuses; dtypes other than int32 and int64, tensors of several "
                "dimensions, results that are not vectors or have negative numbers",
     .apply = MaterializeValue});

}  // namespace
}  // namespace grapnel::constant_folding
