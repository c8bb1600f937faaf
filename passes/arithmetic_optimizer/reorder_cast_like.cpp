// Elements move while they are small: what moves them goes before a cast that makes them larger,
// and after one that makes them smaller.
//
//   Before:  Transpose(Cast(x:uint8, float)) -> y     After:  Cast(Transpose(x), float) -> y
//   Before:  Cast(Transpose(x:float), uint8) -> y     After:  Transpose(Cast(x, uint8)) -> y
//
// The new nodes are "..._<dtype>_<node>": of the mover with the dtype it now has.
//
// Refuses: nodes without a CPU or GPU of their own, or on two devices; nodes that are fetched, fed
// or kept; CheckNumerics; movers that do not take the other dtype.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "reorder_cast_like";
constexpr char kStage[] = "ReorderCastLikeAndValuePreserving";

bool HasFixedSize(DataType type) { return DataTypeSize(type) > 0 && !IsQuantized(type); }

// The attribute that says the dtype of the first input; null when `type` is not allowed there.
const OpAttr* TypeAttr(const OpInfo& info, DataType type) {
  if (info.inputs.empty()) return nullptr;
  const OpAttr* attr = info.FindAttr(info.inputs[0].type_attr);
  bool allowed =
      attr && (attr->allowed_types.empty() || llvm::is_contained(attr->allowed_types, type));
  return allowed ? attr : nullptr;
}

bool IsLoopOrSwitch(Arithmetic& arithmetic, const Node& node) {
  return arithmetic.kinds.Is(node, kFrameOp | kSwitchOp | kMergeOp);
}

}  // namespace

Simplified ReorderCastLike(Arithmetic& arithmetic, const Node& node) {
  Node producer = arithmetic.Input(node, 0);
  if (!producer || producer.num_inputs() == 0) return std::nullopt;
  bool casts_first = IsCastLike(producer) && arithmetic.KeepsValue(node);
  bool casts_last = IsCastLike(node) && arithmetic.KeepsValue(producer);
  if ((!casts_first && !casts_last) || node.op() == "CheckNumerics" ||
      producer.op() == "CheckNumerics" || IsLoopOrSwitch(arithmetic, node) ||
      IsLoopOrSwitch(arithmetic, producer))
    return std::nullopt;
  const Node& cast = casts_first ? producer : node;
  const Node& mover = casts_first ? node : producer;
  const OpInfo* cast_info = DefinitionOf(cast);
  const OpInfo* mover_info = DefinitionOf(mover);
  if (!cast_info || !mover_info) return std::nullopt;
  Expected<NodeTypes> types = TypesOf(cast, *cast_info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return std::nullopt;
  }
  if (types->inputs.empty() || types->outputs.empty()) return std::nullopt;
  DataType from = types->inputs[0], to = types->outputs[0];
  if (!HasFixedSize(from) || !HasFixedSize(to)) return std::nullopt;
  if (casts_first ? DataTypeSize(to) <= DataTypeSize(from) : DataTypeSize(to) >= DataTypeSize(from))
    return std::nullopt;
  if ((!IsOn(node.device(), "CPU") && !IsOn(node.device(), "GPU")) ||
      node.device_id() != producer.device_id()) {
    arithmetic.edit.Refuse(
        kRule, node,
        "'{0}' is on '{1}', '{2}' on '{3}', one CPU or GPU was expected (see --device)",
        node.name(), node.device(), producer.name(), producer.device());
    return std::nullopt;
  }
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(producer)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' or '{1}' is fetched, fed or kept", node.name(),
                           producer.name());
    return std::nullopt;
  }
  DataType moved = casts_first ? from : to;
  const OpAttr* type_attr = TypeAttr(*mover_info, moved);
  if (!type_attr) {
    arithmetic.edit.Refuse(kRule, node, "{0} does not take {1}", mover.op(), DataTypeName(moved));
    return std::nullopt;
  }
  std::string last_name = Arithmetic::NameFor(producer, kStage, DataTypeName(to)),
              first_name = Arithmetic::NameFor(node, kStage, DataTypeName(from));
  if (arithmetic.Exists(last_name) || arithmetic.Exists(first_name)) return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(producer);
  Node first = arithmetic.Copy(first_name, node);
  arithmetic.edit.SetInput(first, 0, producer.input(0));
  Node last = arithmetic.Copy(last_name, producer);
  arithmetic.edit.SetInput(last, 0, {first.id(), 0});
  arithmetic.SetType(casts_first ? first : last, type_attr->name, moved);
  arithmetic.Enqueue(first);
  return By(last);
}

}  // namespace grapnel::arithmetic
