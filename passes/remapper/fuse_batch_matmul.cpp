// Fuses a batch of products with the factor and the mask that follow it, as in attention.
//
//   Before:  q, k -> BatchMatMulV2 -> Mul(s) -> AddV2(m) -> y
//   After:   q, k, s, m -> _MklFusedBatchMatMulV2 {fused_ops=[Mul, Add]} -> y
//
// Refuses: a factor of more than one element; ranks other than 4; a mask with more than one head,
// or that makes the result larger (TensorFlow 2.21 fuses these too and computes another shape);
// BatchMatMulV2 and Mul that are fetched, read twice or have control edges; nodes off the CPU;
// dtypes other than float and bfloat16.
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

struct Match {
  Node product, scaling;
  Port factor, mask;
};

// Matches by ops alone: an Add of a Mul of a BatchMatMulV2, with inputs in either order.
std::optional<Match> FindForm(const Node& root) {
  if (root.num_inputs() != 2) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    Node scaling = root.input_node(i);
    if (scaling.op() != "Mul" || scaling.num_inputs() != 2) continue;
    for (int j = 0; j < 2; ++j) {
      Node product = scaling.input_node(j);
      if (product.op() != "BatchMatMulV2" || product.num_inputs() != 2) continue;
      return Match{product, scaling, scaling.input(1 - j), root.input(1 - i)};
    }
  }
  return std::nullopt;
}

bool HasShapes(Remapper& rule, const Node& root, const Match& match) {
  Shape product = rule.ShapeOf({match.product.id(), 0}), factor = rule.ShapeOf(match.factor),
        mask = rule.ShapeOf(match.mask);
  if (factor.NumElements() != 1 || factor.rank() > 4)
    return rule.Fails(
        "'{0}' multiplies by the shape {1}, one element was expected\nmultiply by one number",
        match.scaling.name(), factor.ToString());
  bool has_ranks =
      product.known_rank() && product.rank() == 4 && mask.known_rank() && mask.rank() == 4;
  if (!has_ranks || mask.dim(1) != 1)
    return rule.Fails(
        "'{0}' adds the shape {1} to {2}, [?,1,?,?] to rank 4 was expected\n"
        "use a mask of rank 4 with one head, which all heads share",
        root.name(), mask.ToString(), product.ToString());
  for (int i : {0, 2, 3}) {
    int64_t wide = mask.dim(i), narrow = product.dim(i);
    if (wide > 1 && narrow >= 0 && wide != narrow)
      return rule.Fails(
          "'{0}' makes the shape {1} larger by adding {2}\nuse a mask that fits the product",
          root.name(), product.ToString(), mask.ToString());
  }
  return true;
}

Verdict FuseBatchMatMul(Remapper& rule, const Node& root) {
  std::optional<Match> match = FindForm(root);
  if (!match) return rule.NotMine();
  if (!rule.WaitsForNone(root)) return rule.Refused();
  if (!rule.CanTake(root, match->scaling) || !rule.CanTake(root, match->product))
    return rule.Refused();
  DataType type = root.GetType("T");
  if (match->scaling.GetType("T") != type || match->product.GetType("T") != type)
    return rule.NotMine("'{0}', '{1}' and '{2}' have different dtypes\nuse one dtype",
                        match->product.name(), match->scaling.name(), root.name());
  if (!IsFusable(rule, root, match->product) || !rule.HasOneDnn(root)) return rule.Refused();
  rule.WantShapes(/*trust_feeds=*/true);
  if (!HasShapes(rule, root, *match)) return rule.Refused();
  RemapAttrs attrs = {{"fused_ops", attr::Strings({"Mul", "Add"})},
                      {"num_args", attr::Int(2)},
                      {"epsilon", attr::Float(0)}};
  for (const char* key : {"T", "adj_x", "adj_y"}) CopyAttr(&attrs, match->product, key);
  Port inputs[] = {match->product.input(0), match->product.input(1), match->factor, match->mask};
  rule.Become(root, "_MklFusedBatchMatMulV2", match->product.device(), inputs, attrs);
  rule.Remove({match->scaling, match->product});
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "remapper",
     .after = "fuse_gelu",
     .name = "fuse_batch_matmul",
     .ops = {"Add", "AddV2"},
     .help = "BatchMatMulV2, Mul by a number and Add become _MklFusedBatchMatMulV2",
     .refuses = "factors of more than one element, ranks other than 4, masks with several heads or "
                "that make the result larger, inner nodes that are fetched or read elsewhere, "
                "control edges, nodes off the CPU, dtypes other than float and bfloat16",
     .pattern = "(Mul(BatchMatMulV2))",
     .apply = FuseBatchMatMul});

}  // namespace
}  // namespace grapnel::remapper
