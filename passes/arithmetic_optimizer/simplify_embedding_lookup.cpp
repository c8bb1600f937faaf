// Makes a sparse segment reduction of gathered rows read the embedding table directly.
//
//   Before:  SparseSegmentSum(Gather(table, Unique(ids)), Unique(ids):1, segments)
//   After:   SparseSegmentSum(table, ids, segments)
//
// The node changes in place. A table that is a resource is read by "..._ReadVar_<node>".
//
// Refuses: nodes that are fetched, fed or kept, or on different devices; indices that do not come
// from the Unique; Gather and Unique that are not known to work along the first dimension.
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsGather(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
      .Cases("Gather", "GatherV2", "ResourceGather", true)
      .Default(false);
}

bool IsUnique(const Node& node) { return node.op() == "Unique" || node.op() == "UniqueV2"; }

bool IsZero(Arithmetic& rule, const Node& node, int i) {
  if (i >= node.num_inputs()) return false;
  const Literal* value = rule.ConstantOf(node.input(i));
  return value && value->num_elements() == 1 &&
         (value->dtype() == proto::DT_INT32 || value->dtype() == proto::DT_INT64) &&
         value->AsInt(0) == 0;
}

bool IsAlongFirst(Arithmetic& rule, const Node& node) {
  if (node.op() == "UniqueV2") return IsZero(rule, node, 1);
  if (node.op() == "GatherV2" && !IsZero(rule, node, 2)) return false;
  return node.GetInt("batch_dims") == 0;
}

Node ReadTable(Arithmetic& rule, const Node& node, const Node& gather) {
  Node variable = gather.input_node(0);
  Node read = rule.Make(Arithmetic::NameFor(node, "SimplifyEmbeddingLookupStage", "ReadVar"),
                        "ReadVariableOp", variable.device(), gather.input(0));
  auto copy = [&](const Node& from, const char* key, const char* as) {
    if (auto value = from.FindAttr(key)) rule.edit.SetAttr(read, as, value->bytes());
  };
  copy(variable, "dtype", "dtype");
  copy(gather, "dtype", "dtype");
  copy(gather, "_class", "_class");
  copy(variable, "shape", "_output_shapes");
  return read;
}

Verdict SimplifyEmbeddingLookup(Arithmetic& rule, const Node& node) {
  Node gather = rule.Input(node, 0);
  if (!gather || !IsGather(gather) || gather.num_inputs() < 2 || node.num_inputs() < 2)
    return rule.NotMine();
  Node unique = gather.input_node(1);
  if (!IsUnique(unique) || unique.num_inputs() == 0) return rule.NotMine();
  if (node.input(1) != Port{unique.id(), 1} || gather.input(1) != Port{unique.id(), 0})
    return rule.Refuse(
        "the indices of '{0}' are not output 0 of '{1}', or those of this node are not its output "
        "1\nlet both read the same Unique, as tf.nn.embedding_lookup_sparse does",
        gather.name(), unique.name());
  if (!IsAlongFirst(rule, gather) || !IsAlongFirst(rule, unique)) {
    return rule.Refuse(
        "'{0}' or '{1}' is not known to work along dimension 0\n"
        "use a constant axis of 0, and no batch dimensions",
        gather.name(), unique.name());
  }
  if (rule.IsPreserved(node) || rule.IsPreserved(gather) || rule.IsPreserved(unique) ||
      gather.device_id() != node.device_id() || unique.device_id() != node.device_id()) {
    return rule.Refuse(
        "'{0}', '{1}' or '{2}' is fetched, fed or kept, or they are on different devices\n"
        "undo this: {3}",
        node.name(), gather.name(), unique.name(),
        rule.ObstaclesAt({unique, gather, node}, Obstacles::kStays | Obstacles::kDevice));
  }
  rule.edit.Used(gather);
  rule.edit.Used(unique);
  rule.edit.SetInput(node, 1, unique.input(0));
  rule.SetType(node, "Tidx", unique.GetType("T"));
  Port table = gather.input(0);
  if (rule.edit.TypeOf(table) == proto::DT_RESOURCE)
    table = {ReadTable(rule, node, gather).id(), 0};
  rule.edit.SetInput(node, 0, table);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "remove_stack_slice",
     .name = "simplify_embedding_lookup",
     .ops = {"SparseSegmentSum", "SparseSegmentSumWithNumSegments", "SparseSegmentMean",
             "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtN",
             "SparseSegmentSqrtNWithNumSegments"},
     .help = "makes a sparse segment reduction of gathered rows read the table directly",
     .refuses =
         "nodes that are fetched, fed or kept, or on different devices; indices that do not come "
         "from the Unique; Gather and Unique that are not known to work along the first dimension",
     .pattern = "(Gather|GatherV2|ResourceGather(_, Unique|UniqueV2))",
     .apply = SimplifyEmbeddingLookup});

}  // namespace
}  // namespace grapnel::arithmetic
