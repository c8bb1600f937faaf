// A sparse segment reduction accepts int32 and int64 indices without a cast.
//
//   Before:  SparseSegmentSum(data, Cast(ids:int64, int32), segments)
//   After:   SparseSegmentSum(data, ids, segments)
//
// The node changes in place.
//
// Refuses: nodes that are fetched, fed or kept; casts from other dtypes than int32 and int64.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool IsCastOfIndices(const Node& node) {
  if (!node || node.op() != "Cast" || node.num_inputs() == 0) return false;
  DataType from = node.GetType("SrcT");
  return from == proto::DT_INT32 || from == proto::DT_INT64;
}

Verdict RemoveCastIntoSegmentReduction(Arithmetic& rule, const Node& node) {
  if (!IsCastOfIndices(rule.Input(node, 1)) && !IsCastOfIndices(rule.Input(node, 2)))
    return rule.NotMine();
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  for (int i : {1, 2}) {
    Node cast = rule.Input(node, i);
    if (!IsCastOfIndices(cast)) continue;
    rule.edit.Used(cast);
    rule.edit.SetInput(node, i, cast.input(0));
    rule.SetType(node, i == 1 ? "Tidx" : "Tsegmentids", cast.GetType("SrcT"));
  }
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "simplify_embedding_lookup",
              .name = "remove_cast_into_segment_reduction",
              .ops = {"SparseSegmentSum", "SparseSegmentSumWithNumSegments", "SparseSegmentMean",
                      "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtN",
                      "SparseSegmentSqrtNWithNumSegments"},
              .help = "removes the Cast of a sparse segment reduction's indices",
              .refuses = "nodes that are fetched, fed or kept; casts from other dtypes than int32 "
                         "and int64",
              .pattern = "(_, Cast); (_, _, Cast)",
              .apply = RemoveCastIntoSegmentReduction});

}  // namespace
}  // namespace grapnel::arithmetic
