// Reductions over axes, and cumulative sums and products.
#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

bool IsAll(llvm::ArrayRef<int64_t> axes, int rank) {
  if (static_cast<int>(axes.size()) != rank) return false;
  for (int i = 0; i < rank; ++i) {
    if (axes[i] != i) return false;
  }
  return true;
}

// Makes the nodes with which TensorFlow computes the multiples of a Tile, and which no node reads:
// once in a body for each pair of shape and axes.
void LeaveTiling(G& g, const Shape& shape, const std::vector<int64_t>& axes,
                 const std::vector<int>& kept) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  if (g.state().current->is_eager) return;
  if (!g.state().current->reduced_shapes.insert({dims, axes}).second) return;
  Value at_least_one;
  {
    auto scope = g.Scope("Maximum");
    Value x = g.ConstantInts(std::vector<int64_t>(kept.begin(), kept.end()), proto::DT_INT32, "x");
    at_least_one = g.Exact("Maximum", {x, 1});
  }
  auto scope = g.Scope("floordiv");
  Value x = g.ConstantInts(dims, proto::DT_INT32, "x");
  g.Exact("FloorDiv", {x, at_least_one});
}

// Returns the gradient of x: each element gets the gradient of the sum to which it contributed.
Value SpreadSum(G& g) {
  Value x = g.x(0);
  Shape shape = x.shape();
  auto axes = g.IntegersOf(g.x(1));
  if (shape.known_rank() && axes) {
    if (IsAll(*axes, shape.rank())) {
      Value one = g.Reshape(g.dy(), std::vector<int>(shape.rank(), 1));
      Value dims = shape.IsFullyKnown() ? g.ConstantInts(shape.dims()) : g.ShapeOf(x);
      return g.Op("Tile", {one, dims});
    }
    if (shape.IsFullyKnown()) {
      std::vector<int> kept(shape.dims().begin(), shape.dims().end()), times(kept.size(), 1);
      for (int64_t axis : *axes) {
        if (axis < 0) axis += shape.rank();
        if (axis < 0 || axis >= shape.rank()) continue;
        times[axis] = static_cast<int>(shape.dim(static_cast<int>(axis)));
        kept[axis] = 1;
      }
      // TensorFlow's multiple for a dimension is its size in x divided by its size in the sum, or
      // by 1 if that is 0. A dimension that is not summed has the multiple 1, but 0 if its size is
      // 0.
      for (size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] == 0) times[i] = 0;
      }
      LeaveTiling(g, shape, *axes, kept);
      Value with_dims = g.Reshape(g.dy(), kept);
      return g.Op("Tile", {with_dims, times});
    }
  }
  Value dims = g.ShapeOf(x);
  Value gradient = g.dy();
  if (!g.node().GetBool("keep_dims")) {
    Operand kept = 0;
    {
      auto beside = g.ColocatedWith(dims);
      kept = g.ReducedShape(dims, g.x(1));
    }
    gradient = g.Reshape(gradient, kept);
  }
  return g.Op("BroadcastTo", {gradient, dims});
}
GRAPNEL_GRADIENT("Sum", [](G& g) -> InputGradients { return {SpreadSum(g)}; });

InputGradients MeanOf(G& g) {
  Value sum = SpreadSum(g);
  auto in = g.x(0).shape(), out = g.y().shape();
  if (in.IsFullyKnown() && out.IsFullyKnown()) {
    int64_t from = in.NumElements().value_or(0), to = out.NumElements().value_or(1);
    int64_t averaged = from / std::max<int64_t>(to, 1);
    Value factor = g.Constant(static_cast<double>(averaged), sum.dtype());
    return {sum / factor};
  }
  Value dims = g.ShapeOf(g.x(0));
  Value rank = g.Size(dims);
  Value axes = Cast(g.x(1), rank.dtype());
  Value moved = axes + rank;
  Value positive = moved % rank;
  Value factor = ReduceProd(g.Gather(dims, positive));
  return {sum / Cast(factor, sum.dtype())};
}
GRAPNEL_GRADIENT("Mean", MeanOf);

// All elements that are equal to the maximum or minimum get equal shares of the gradient.
InputGradients ExtremeOf(G& g) {
  Value dims = g.ShapeOf(g.x(0));
  Value y = g.y(), dy = g.dy();
  Operand kept = Operand(0);
  if (g.node().GetBool("keep_dims")) {
    kept = g.ShapeOf(y);
  } else {
    kept = g.ReducedShape(dims, g.x(1));
    y = g.Reshape(y, kept);
    dy = g.Reshape(dy, kept);
  }
  Value is_extreme = Cast(g.Op("Equal", {y, g.x(0)}), dy.dtype());
  Value count = g.Reshape(ReduceSum(is_extreme, g.x(1)), kept);
  Value share = is_extreme / count;
  return {share * dy};
}
GRAPNEL_GRADIENT("Max", ExtremeOf);
GRAPNEL_GRADIENT("Min", ExtremeOf);

InputGradients EuclideanNormOf(G& g) {
  Value y = g.y(), dy = g.dy();
  if (!g.node().GetBool("keep_dims")) {
    Operand kept = g.ReducedShape(g.ShapeOf(g.x(0)), g.x(1));
    y = g.Reshape(y, kept);
    dy = g.Reshape(dy, kept);
  }
  return {g.x(0) / (y / dy)};
}
GRAPNEL_GRADIENT("EuclideanNorm", EuclideanNormOf);

// The derivative with respect to an element is the product of all other elements. It is not y / x
// where x is 0, so it is computed as the product of the elements before times that of the elements
// after.
InputGradients ProdOf(G& g) {
  Value x = g.x(0), dy = g.dy();
  Value dims = g.ShapeOf(x);
  Value axes = g.Reshape(g.x(1), std::vector<int>{-1});
  if (!g.node().GetBool("keep_dims")) dy = g.Reshape(dy, g.ReducedShape(dims, g.x(1)));
  dy = g.Op("BroadcastTo", {dy, dims});
  Value rank = Rank(x);
  axes = Cast(axes, rank.dtype());
  Value moved = axes + rank;
  Value reduced = moved % rank;
  Value all = g.Range(0, rank);
  Value others = g.Op("ListDiff", {all, reduced}, {{"out_idx", reduced.dtype()}});
  Value perm = g.Concat({reduced, others}, 0);
  Value reduced_count = ReduceProd(g.Gather(dims, reduced));
  Value other_count = ReduceProd(g.Gather(dims, others));
  Value permuted = g.Transpose(x, perm);
  Value permuted_dims = g.ShapeOf(permuted);
  Value matrix = g.ReshapeTo(permuted, {reduced_count, other_count});
  auto running = [&](bool reverse) {
    return g.Scoped("Cumprod", {matrix, 0}, {{"exclusive", true}, {"reverse", reverse}});
  };
  Value before = running(false);
  Value behind = running(true);
  Value left = g.Conj(before);
  Value product = left * g.Conj(behind);
  Value y = g.Reshape(product, permuted_dims);
  Value back = g.Op("InvertPermutation", {perm});
  Value gradient = dy * g.Transpose(y, back);
  return {g.Reshape(gradient, dims)};
}
GRAPNEL_GRADIENT("Prod", ProdOf);

// --- Cumulative reductions; ArgMax and ArgMin.

InputGradients CumsumOf(G& g) {
  const Node& node = g.node();
  return {
      g.Scoped("Cumsum", {g.dy(), g.x(1)},
               {{"exclusive", node.GetBool("exclusive")}, {"reverse", !node.GetBool("reverse")}})};
}
GRAPNEL_GRADIENT("Cumsum", CumsumOf);

InputGradients CumprodOf(G& g) {
  const Node& node = g.node();
  bool exclusive = node.GetBool("exclusive"), reverse = node.GetBool("reverse");
  Value products =
      g.Scoped("Cumprod", {g.x(0), g.x(1)}, {{"exclusive", exclusive}, {"reverse", reverse}});
  Value scaled = products * g.dy();
  Value sums =
      g.Scoped("Cumsum", {scaled, g.x(1)}, {{"exclusive", exclusive}, {"reverse", !reverse}});
  return {g.Scoped("DivNoNan", {sums, g.x(0)}, {}, "div_no_nan")};
}
GRAPNEL_GRADIENT("Cumprod", CumprodOf);

double Lowest(DataType dtype) {
  switch (dtype) {
    case proto::DT_HALF:
      return -65504.0;
    case proto::DT_BFLOAT16:
      return -3.38953138925153547590470800371487866880e38;
    case proto::DT_DOUBLE:
      return std::numeric_limits<double>::lowest();
    default:
      return std::numeric_limits<float>::lowest();
  }
}

// Computes in logarithms, separately for the positive and the negative part of the gradient.
InputGradients CumulativeLogsumexpOf(G& g) {
  Value x = g.x(0), dy = g.dy();
  std::vector<OpAttribute> attributes = {{"exclusive", g.node().GetBool("exclusive")},
                                         {"reverse", !g.node().GetBool("reverse")}};
  Operand lowest = Literal::Scalar(dy.dtype(), Lowest(dy.dtype()));
  Value is_positive = g.Op("Greater", {dy, 0});
  Value log_positive = g.Op("SelectV2", {is_positive, Log(dy), lowest});
  Value is_negative = g.Op("Less", {dy, 0});
  Value log_negative = g.Op("SelectV2", {is_negative, Log(-dy), lowest});
  auto part = [&](const Value& log_dy) {
    Value sums = g.Scoped("CumulativeLogsumexp", {log_dy - g.y(), g.x(1)}, attributes);
    return Exp(sums + x);
  };
  Value positive = part(log_positive);
  return {positive - part(log_negative)};
}
GRAPNEL_GRADIENT("CumulativeLogsumexp", CumulativeLogsumexpOf);

InputGradients None(G&) { return {}; }
GRAPNEL_GRADIENT("ArgMax", None);
GRAPNEL_GRADIENT("ArgMin", None);

}  // namespace
}  // namespace grapnel
