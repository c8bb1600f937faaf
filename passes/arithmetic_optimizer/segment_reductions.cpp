// Sparse segment reductions read tables and indices as they are.
//
//   Before:  SparseSegmentSum(Gather(table, Unique(ids)), Unique(ids):1, segments)
//   After:   SparseSegmentSum(table, ids, segments)
//   Before:  SparseSegmentSum(data, Cast(ids:int64, int32), segments)
//   After:   SparseSegmentSum(data, ids, segments)
//
// The nodes change in place. A table that is a resource is read by "..._ReadVar_<node>".
//
// Refuses: nodes that are fetched, fed or kept, or on different devices; Gather and Unique along
// other dimensions than the first; casts from other dtypes than int32 and int64.
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsZero(Arithmetic& arithmetic, const Node& node, int i) {
  if (i >= node.num_inputs()) return false;
  const Literal* value = arithmetic.ConstantOf(node.input(i));
  return value && value->num_elements() == 1 &&
         (value->dtype() == proto::DT_INT32 || value->dtype() == proto::DT_INT64) &&
         value->AsInt(0) == 0;
}

bool IsAlongFirst(Arithmetic& arithmetic, const Node& node) {
  if (node.op() == "GatherV2") return IsZero(arithmetic, node, 2) && node.GetInt("batch_dims") == 0;
  if (node.op() == "UniqueV2") return IsZero(arithmetic, node, 1);
  return node.GetInt("batch_dims") == 0;
}

Node ReadTable(Arithmetic& arithmetic, const Node& node, const Node& gather) {
  Node variable = gather.input_node(0);
  Node read = arithmetic.Make(Arithmetic::NameFor(node, "SimplifyEmbeddingLookupStage", "ReadVar"),
                              "ReadVariableOp", variable.device(), {gather.input(0)});
  auto copy = [&](const Node& from, const char* key, const char* as) {
    if (auto value = from.FindAttr(key)) arithmetic.edit.SetAttr(read, as, value->bytes());
  };
  copy(variable, "dtype", "dtype");
  copy(gather, "dtype", "dtype");
  copy(gather, "_class", "_class");
  copy(variable, "shape", "_output_shapes");
  return read;
}

}  // namespace

Simplified SimplifyEmbeddingLookup(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "simplify_embedding_lookup";
  Node gather = arithmetic.Input(node, 0);
  bool is_gather = gather && llvm::StringSwitch<bool>(gather.op())
                                 .Cases("Gather", "GatherV2", "ResourceGather", true)
                                 .Default(false);
  if (!is_gather || gather.num_inputs() < 2 || node.num_inputs() < 2) return std::nullopt;
  Node unique = gather.input_node(1);
  if ((unique.op() != "Unique" && unique.op() != "UniqueV2") || unique.num_inputs() == 0)
    return std::nullopt;
  if (node.input(1) != Port{unique.id(), 1} || gather.input(1) != Port{unique.id(), 0}) {
    arithmetic.edit.Refuse(kRule, node, "its indices are not those that '{0}' gives",
                           unique.name());
    return std::nullopt;
  }
  if (!IsAlongFirst(arithmetic, gather) || !IsAlongFirst(arithmetic, unique)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' or '{1}' is not known to go along dimension 0",
                           gather.name(), unique.name());
    return std::nullopt;
  }
  if (arithmetic.edit.IsPreserved(node) || arithmetic.edit.IsPreserved(gather) ||
      arithmetic.edit.IsPreserved(unique) || gather.device_id() != node.device_id() ||
      unique.device_id() != node.device_id()) {
    arithmetic.edit.Refuse(
        kRule, node, "'{0}', '{1}' or '{2}' is fetched, fed or kept, or they are on two devices",
        node.name(), gather.name(), unique.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(gather);
  arithmetic.edit.Used(unique);
  arithmetic.edit.SetInput(node, 1, unique.input(0));
  arithmetic.SetType(node, "Tidx", unique.GetType("T"));
  Port table = gather.input(0);
  if (arithmetic.edit.TypeOf(table) == proto::DT_RESOURCE)
    table = {ReadTable(arithmetic, node, gather).id(), 0};
  arithmetic.edit.SetInput(node, 0, table);
  return InPlace(node);
}

Simplified RemoveCastIntoSegmentReduction(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_cast_into_segment_reduction";
  auto is_cast = [&](const Node& input) {
    if (!input || input.op() != "Cast" || input.num_inputs() == 0) return false;
    DataType from = input.GetType("SrcT");
    return from == proto::DT_INT32 || from == proto::DT_INT64;
  };
  if (!is_cast(arithmetic.Input(node, 1)) && !is_cast(arithmetic.Input(node, 2)))
    return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  for (int i : {1, 2}) {
    Node cast = arithmetic.Input(node, i);
    if (!is_cast(cast)) continue;
    arithmetic.edit.Used(cast);
    arithmetic.edit.SetInput(node, i, cast.input(0));
    arithmetic.SetType(node, i == 1 ? "Tidx" : "Tsegmentids", cast.GetType("SrcT"));
  }
  return InPlace(node);
}

}  // namespace grapnel::arithmetic
