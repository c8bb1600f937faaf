// Sums, means and extremes of segments; sparse segments.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

GRAPNEL_GRADIENT("SegmentSum", [](G& g) -> InputGradients { return {g.Gather(g.dy(), g.x(1))}; });

InputGradients SegmentMeanOf(G& g) {
  Value rank = Rank(g.x(0));
  Value ids_shape = g.ShapeOf(g.x(1));
  Value tail = g.Ones(g.ExpandDims(rank - 1, 0), ids_shape.dtype());
  Value shape = g.Concat({ids_shape, tail}, 0);
  Value ones = g.Ones(shape, g.dy().dtype());
  Value scaled = g.dy() / g.Op("SegmentSum", {ones, g.x(1)});
  return {g.Gather(scaled, g.x(1))};
}
GRAPNEL_GRADIENT("SegmentMean", SegmentMeanOf);

InputGradients SegmentExtremeOf(G& g) {
  Value zeros = g.ZerosLike(g.x(0));
  Value extremes = g.Gather(g.y(), g.x(1));
  Value is_extreme = g.Op("Equal", {g.x(0), extremes});
  Value count = g.Op("SegmentSum", {Cast(is_extreme, g.dy().dtype()), g.x(1)});
  Value share = g.dy() / count;
  Value gathered = g.Gather(share, g.x(1));
  return {Select(is_extreme, gathered, zeros)};
}
GRAPNEL_GRADIENT("SegmentMin", SegmentExtremeOf);
GRAPNEL_GRADIENT("SegmentMax", SegmentExtremeOf);

InputGradients SegmentProdOf(G& g) {
  Value x = g.x(0), ids = g.x(1), dy = g.dy();
  Value is_zero = g.Op("Equal", {x, 0});
  Value zeros = g.Op("SegmentSum", {Cast(is_zero, proto::DT_INT32), ids});
  Value has_several = g.Op("Greater", {zeros, 1});
  Value none = g.ZerosLike(dy);
  dy = Select(has_several, none, dy);
  Value ones = g.OnesLike(x);
  Value without_zeros = Select(is_zero, ones, x);
  Value products = g.Op("SegmentProd", {without_zeros, ids});
  Value gathered = g.Gather(g.y(), ids);
  Value gathered_products = g.Gather(products, ids);
  Value of_others = gathered / without_zeros;
  Value partial = Select(is_zero, gathered_products, of_others);
  return {g.Gather(dy, ids) * partial};
}
GRAPNEL_GRADIENT("SegmentProd", SegmentProdOf);

// --- Unsorted segments, where a negative id drops the row.

struct Gathered {
  Value values, clipped_ids, is_kept;
};
// Gathers rows of `params` by `ids`, with zeros where an id is negative.
Gathered GatherKept(G& g, const Value& params, const Value& ids, Value clipped = {},
                    Value is_kept = {}) {
  if (!clipped.body()) {
    Value zeros = g.ZerosLike(ids);
    clipped = g.Op("Maximum", {ids, zeros});
  }
  Value gathered = g.Gather(params, clipped);
  if (!is_kept.body()) {
    is_kept = g.Op("GreaterEqual", {ids, 0});
    Value kept_shape = g.ShapeOf(is_kept);
    Value gathered_rank = Rank(gathered);
    Value added = gathered_rank - Rank(is_kept);
    Value tail = g.Ones(std::vector<Operand>{added}, kept_shape.dtype());
    is_kept = g.Reshape(is_kept, g.Concat({kept_shape, tail}, 0));
    Value all = g.OnesLike(gathered, proto::DT_BOOL);
    is_kept = is_kept & all;
  }
  Value zeros = g.ZerosLike(gathered);
  return {Select(is_kept, gathered, zeros), clipped, is_kept};
}

GRAPNEL_GRADIENT("UnsortedSegmentSum",
                 [](G& g) -> InputGradients { return {GatherKept(g, g.dy(), g.x(1)).values}; });

InputGradients UnsortedExtremeOf(G& g) {
  Gathered extremes = GatherKept(g, g.y(), g.x(1));
  Value is_extreme = g.Op("Equal", {g.x(0), extremes.values});
  is_extreme = g.Op("LogicalAnd", {is_extreme, extremes.is_kept});
  Value count = g.Op("UnsortedSegmentSum", {Cast(is_extreme, g.dy().dtype()), g.x(1), g.x(2)});
  Value share = g.dy() / count;
  Gathered gathered = GatherKept(g, share, Value(), extremes.clipped_ids, extremes.is_kept);
  Value zeros = g.ZerosLike(gathered.values);
  return {Select(is_extreme, gathered.values, zeros)};
}
GRAPNEL_GRADIENT("UnsortedSegmentMax", UnsortedExtremeOf);
GRAPNEL_GRADIENT("UnsortedSegmentMin", UnsortedExtremeOf);

InputGradients UnsortedProdOf(G& g) {
  Value x = g.x(0), ids = g.x(1), dy = g.dy();
  Value is_zero = g.Op("Equal", {x, 0});
  Value zeros = g.Op("UnsortedSegmentSum", {Cast(is_zero, proto::DT_INT32), ids, g.x(2)});
  Value has_several = g.Op("Greater", {zeros, 1});
  Value none = g.ZerosLike(dy);
  dy = Select(has_several, none, dy);
  Value ones = g.OnesLike(x);
  Value without_zeros = Select(is_zero, ones, x);
  Value products = g.Op("UnsortedSegmentProd", {without_zeros, ids, g.x(2)});
  Value no_ids = g.ZerosLike(ids);
  Value clipped = g.Op("Maximum", {ids, no_ids});
  Value gathered = g.Gather(g.y(), clipped);
  Value gathered_products = g.Gather(products, clipped);
  Value of_others = gathered / x;
  Value partial = Select(is_zero, gathered_products, of_others);
  return {GatherKept(g, dy, ids, clipped).values * partial};
}
GRAPNEL_GRADIENT("UnsortedSegmentProd", UnsortedProdOf);

// --- Sparse segments: segments of those rows of x that `indices` selects.

InputGradients SparseSegmentOf(G& g, const char* op) {
  Value shape = g.ShapeOf(g.x(0));
  Value rows = g.At(shape, 0);
  if (!g.node().GetBool("sparse_gradient")) return {g.Op(op, {g.dy(), g.x(1), g.x(2), rows})};
  Operation made = g.Op((op + llvm::StringRef("V2")).str(), {g.dy(), g.x(1), g.x(2), rows});
  return {Gradient(made.output(0), made.output(1), shape)};
}
InputGradients SparseSumOf(G& g) { return SparseSegmentOf(g, "SparseSegmentSumGrad"); }
InputGradients SparseMeanOf(G& g) { return SparseSegmentOf(g, "SparseSegmentMeanGrad"); }
InputGradients SparseSqrtNOf(G& g) { return SparseSegmentOf(g, "SparseSegmentSqrtNGrad"); }
GRAPNEL_GRADIENT("SparseSegmentSum", SparseSumOf);
GRAPNEL_GRADIENT("SparseSegmentSumWithNumSegments", SparseSumOf);
GRAPNEL_GRADIENT("SparseSegmentMean", SparseMeanOf);
GRAPNEL_GRADIENT("SparseSegmentMeanWithNumSegments", SparseMeanOf);
GRAPNEL_GRADIENT("SparseSegmentSqrtN", SparseSqrtNOf);
GRAPNEL_GRADIENT("SparseSegmentSqrtNWithNumSegments", SparseSqrtNOf);

}  // namespace
}  // namespace grapnel
