// A batch of products takes the factor and the mask that follow it, as in an attention.
//
//   Before:  q, k -> BatchMatMulV2 -> Mul(s) -> AddV2(m) -> y
//   After:   q, k, s, m -> _MklFusedBatchMatMulV2 {fused_ops=[Mul, Add]} -> y
//
// Refuses: a factor of more than one element; ranks other than 4; a mask with more than one head,
// or that makes the result larger (TensorFlow 2.21 fuses these too and computes another shape);
// BatchMatMulV2 and Mul that are fetched, read twice or have control edges; nodes off the CPU;
// dtypes other than float and bfloat16.
#include "passes/remapper/remapper.h"

namespace grapnel {
namespace {

constexpr const char* kRule = "fuse_batch_matmul";

struct Match {
  Node product, scaling;
  Port factor, mask;
};

// By form alone: an Add of a Mul of a BatchMatMulV2, each with its inputs in either order.
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

bool HasShapes(Remapper& remap, const Node& root, const Match& match) {
  auto refuse = [&](const auto&... arguments) {
    remap.edit.Refuse(kRule, root, arguments...);
    return false;
  };
  Shape product = remap.ShapeOf({match.product.id(), 0}), factor = remap.ShapeOf(match.factor),
        mask = remap.ShapeOf(match.mask);
  if (factor.NumElements() != 1 || factor.rank() > 4)
    return refuse("'{0}' multiplies by the shape {1}, one element was expected",
                  match.scaling.name(), factor.ToString());
  bool has_ranks =
      product.known_rank() && product.rank() == 4 && mask.known_rank() && mask.rank() == 4;
  if (!has_ranks || mask.dim(1) != 1)
    return refuse("'{0}' adds the shape {1} to {2}, [?,1,?,?] to rank 4 was expected", root.name(),
                  mask.ToString(), product.ToString());
  for (int i : {0, 2, 3}) {
    int64_t wide = mask.dim(i), narrow = product.dim(i);
    if (wide > 1 && narrow >= 0 && wide != narrow)
      return refuse("'{0}' makes the shape {1} larger by adding {2}", root.name(),
                    product.ToString(), mask.ToString());
  }
  return true;
}

}  // namespace

bool FuseBatchMatMul(Remapper& remap, const Node& root) {
  std::optional<Match> match = FindForm(root);
  if (!match) return false;
  if (root.num_controls() > 0) {
    remap.edit.Refuse(kRule, root, "'{0}' has control edges", root.name());
    return false;
  }
  if (!remap.CanTake(kRule, root, match->scaling) || !remap.CanTake(kRule, root, match->product))
    return false;
  DataType type = root.GetType("T");
  if (match->scaling.GetType("T") != type || match->product.GetType("T") != type) return false;
  if (!IsFusable(remap, kRule, root, match->product)) return false;
  remap.WantShapes(/*trust_feeds=*/true);
  if (!HasShapes(remap, root, *match) || !remap.Begin(kRule, root)) return remap.stopped;
  RemapAttrs attrs = {{"fused_ops", attr::Strings({"Mul", "Add"})},
                      {"num_args", attr::Int(2)},
                      {"epsilon", attr::Float(0)}};
  for (const char* key : {"T", "adj_x", "adj_y"}) CopyAttr(&attrs, match->product, key);
  Port inputs[] = {match->product.input(0), match->product.input(1), match->factor, match->mask};
  remap.Become(root, "_MklFusedBatchMatMulV2", match->product.device(), inputs, attrs);
  remap.EndRemoving({match->scaling, match->product});
  return true;
}

}  // namespace grapnel
