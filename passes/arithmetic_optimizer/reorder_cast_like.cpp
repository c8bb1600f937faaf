// Moves data while elements are small: reorders a data movement before a cast that enlarges
// elements, and after one that shrinks them.
//
//   Before:  Transpose(Cast(x:uint8, float)) -> y     After:  Cast(Transpose(x), float) -> y
//   Before:  Cast(Transpose(x:float), uint8) -> y     After:  Transpose(Cast(x, uint8)) -> y
//
// The new nodes are "..._<dtype>_<node>". <dtype> is the dtype that the cast reads for the node
// that now comes first, and the dtype that it makes for the other.
//
// Refuses: nodes whose device, or assumed device (--device), is not a CPU or GPU, or that are on
// two devices; nodes that are fetched, fed or kept; CheckNumerics and control flow; quantized
// dtypes and those without a fixed size; moving ops that do not support the other dtype.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "ReorderCastLikeAndValuePreserving";

// A node and its producer: one of them casts and the other moves elements.
struct Pair {
  bool casts_first;
  DataType from, to;         // of the cast
  const OpInfo* mover_info;  // definition of the moving op

  DataType smaller() const { return casts_first ? from : to; }
};

bool HasFixedSize(DataType type) { return DataTypeSize(type) > 0 && !IsQuantized(type); }

// False for CheckNumerics, and for the ops of loops and branches.
bool MayTradePlaces(Arithmetic& rule, const Node& node) {
  return node.op() != "CheckNumerics" && !rule.kinds.Is(node, kFrameOp | kSwitchOp | kMergeOp);
}

// Returns nullopt if `node` and `producer` are not a cast and a move that may trade places, or if
// trading places would not make the moved elements smaller.
std::optional<Pair> PairOf(Arithmetic& rule, const Node& node, const Node& producer) {
  bool casts_first = IsCastLike(producer) && rule.KeepsValue(node);
  bool casts_last = IsCastLike(node) && rule.KeepsValue(producer);
  if ((!casts_first && !casts_last) || !MayTradePlaces(rule, node) ||
      !MayTradePlaces(rule, producer))
    return std::nullopt;
  const Node& cast = casts_first ? producer : node;
  const OpInfo* cast_info = DefinitionOf(cast);
  const OpInfo* mover_info = DefinitionOf(casts_first ? node : producer);
  if (!cast_info || !mover_info) return std::nullopt;
  Expected<NodeTypes> types = TypesOf(cast, *cast_info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return std::nullopt;
  }
  if (types->inputs.empty() || types->outputs.empty()) return std::nullopt;
  DataType from = types->inputs[0], to = types->outputs[0];
  if (!HasFixedSize(from) || !HasFixedSize(to)) return std::nullopt;
  bool grows = DataTypeSize(to) > DataTypeSize(from),
       shrinks = DataTypeSize(to) < DataTypeSize(from);
  if (casts_first ? !grows : !shrinks) return std::nullopt;
  return Pair{casts_first, from, to, mover_info};
}

// The attribute for the dtype of the first input; null if there is none or it does not allow
// `type`.
const OpAttr* TypeAttr(const OpInfo& info, DataType type) {
  if (info.inputs.empty()) return nullptr;
  const OpAttr* attr = info.FindAttr(info.inputs[0].type_attr);
  bool allowed =
      attr && (attr->allowed_types.empty() || llvm::is_contained(attr->allowed_types, type));
  return allowed ? attr : nullptr;
}

Verdict ReorderCastLike(Arithmetic& rule, const Node& node) {
  Node producer = rule.Input(node, 0);
  if (!producer || producer.num_inputs() == 0) return rule.NotMine();
  std::optional<Pair> pair = PairOf(rule, node, producer);
  if (!pair) return rule.NotMine();
  if ((!IsOn(rule.DeviceOf(node), "CPU") && !IsOn(rule.DeviceOf(node), "GPU")) ||
      node.device_id() != producer.device_id()) {
    return rule.Refuse(
        "'{0}' is on {1}, '{2}' on {3}, one CPU or GPU was expected (see --device)\n"
        "place both on one device",
        node.name(), QuotedDevice(node.device()), producer.name(), QuotedDevice(producer.device()));
  }
  if (rule.IsPreserved(node) || rule.IsPreserved(producer))
    return rule.Refuse("'{0}' or '{1}' is fetched, fed or kept\nundo this: {2}", node.name(),
                       producer.name(), rule.ObstaclesAt({producer, node}, Obstacles::kStays));
  const OpAttr* type_attr = TypeAttr(*pair->mover_info, pair->smaller());
  if (!type_attr) {
    return rule.Refuse("op {0} does not take dtype {1}\nmove the cast yourself",
                       (pair->casts_first ? node : producer).op(), DataTypeName(pair->smaller()));
  }
  std::string last_name = Arithmetic::NameFor(producer, kStage, DataTypeName(pair->to)),
              first_name = Arithmetic::NameFor(node, kStage, DataTypeName(pair->from));
  if (rule.Exists(last_name) || rule.Exists(first_name)) return rule.NotMine();
  rule.edit.Used(producer);
  Node first = rule.Copy(first_name, node);
  rule.edit.SetInput(first, 0, producer.input(0));
  Node last = rule.Copy(last_name, producer);
  rule.edit.SetInput(last, 0, {first.id(), 0});
  rule.SetType(pair->casts_first ? first : last, type_attr->name, pair->smaller());
  rule.Enqueue(first);
  return rule.ReplaceBy(last);
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "remove_logical_not",
     .name = "reorder_cast_like",
     .ops = {"Angle",          "Bucketize",
             "Cast",           "CompareAndBitpack",
             "Dequantize",     "HistogramFixedWidth",
             "Imag",           "IsFinite",
             "IsInf",          "IsNan",
             "Quantize",       "QuantizeDownAndShrinkRange",
             "QuantizeV2",     "QuantizedInstanceNorm",
             "QuantizedRelu",  "QuantizedRelu6",
             "QuantizedReluX", "Real",
             "Requantize",     "InvertPermutation",
             "Reverse",        "ReverseV2",
             "Roll",           "Transpose",
             "DepthToSpace",   "SpaceToDepth",
             "BatchToSpace",   "BatchToSpaceND",
             "SpaceToBatch",   "SpaceToBatchND",
             "ExpandDims",     "Reshape",
             "Squeeze",        "DebugGradientIdentity",
             "DeepCopy",       "PreventGradient",
             "Print",          "Snapshot",
             "StopGradient",   "Identity",
             "RefIdentity",    "AddN",
             "AccumulateNV2"},
     .help = "moves elements before a cast that enlarges them, and after one that shrinks them; "
             "needs a device",
     .refuses = "nodes that are not known to be on one CPU or GPU; nodes that are fetched, fed or "
                "kept; CheckNumerics and control flow; quantized dtypes and those without a fixed "
                "size; moving ops that do not support the other dtype",
     .apply = ReorderCastLike});

}  // namespace
}  // namespace grapnel::arithmetic
