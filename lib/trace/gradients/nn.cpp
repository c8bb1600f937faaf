// Activations, biases, softmax, losses, normalization, top-k.
#include "lib/trace/array_ops.h"
#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Activations: their gradient is computed from the incoming gradient and from y or x.

InputGradients OfY(G& g, const char* op) { return {g.Op(op, {g.dy(), g.y()})}; }
GRAPNEL_GRADIENT("Relu", [](G& g) { return OfY(g, "ReluGrad"); });
GRAPNEL_GRADIENT("Relu6", [](G& g) { return OfY(g, "Relu6Grad"); });
GRAPNEL_GRADIENT("Elu", [](G& g) { return OfY(g, "EluGrad"); });
GRAPNEL_GRADIENT("Selu", [](G& g) { return OfY(g, "SeluGrad"); });
GRAPNEL_GRADIENT("LeakyRelu", [](G& g) -> InputGradients {
  return {g.Op("LeakyReluGrad", {g.dy(), g.x()}, g.Attrs({"alpha"}))};
});
GRAPNEL_GRADIENT("Softplus", [](G& g) -> InputGradients { return {g.dy() * Sigmoid(g.x())}; });
GRAPNEL_GRADIENT("Softsign", [](G& g) -> InputGradients {
  return {g.Op("SoftsignGrad", {g.dy(), g.x()})};
});

// The gradient of ReluGrad and similar ops: the incoming gradient goes through the same op again; x
// gets zeros.
InputGradients AgainOfX(G& g) {
  Value again = g.Op(g.node().op(), {g.dy(), g.x(1)}, g.Attrs({"alpha"}));
  return {again, g.ZerosLike(g.x(1))};
}
GRAPNEL_GRADIENT("ReluGrad", AgainOfX);
GRAPNEL_GRADIENT("Relu6Grad", AgainOfX);
GRAPNEL_GRADIENT("LeakyReluGrad", AgainOfX);

// EluGrad and SeluGrad multiply their first input by y plus a constant where y is negative. There,
// the gradient of y is the incoming gradient times the first input; elsewhere it is 0.
InputGradients OfExponential(G& g, const Operand& zero) {
  Value y = g.x(1);
  Value again = g.Op(g.node().op(), {g.dy(), y});
  Value is_negative = y < zero;
  Value scaled = g.dy() * g.x(0);
  Value zeros = g.ZerosLike(y);
  return {again, g.Op("Select", {is_negative, scaled, zeros})};
}
GRAPNEL_GRADIENT("EluGrad", [](G& g) { return OfExponential(g, 0); });
GRAPNEL_GRADIENT("SeluGrad", [](G& g) { return OfExponential(g, 0.0); });

InputGradients SoftplusGradOf(G& g) {
  Value dy = g.x(0), x = g.x(1);
  auto after = g.AfterGradient();
  Value first = g.Op("SoftplusGrad", {g.dy(), x});
  Value scaled = g.dy() * dy;
  Value sum = Exp(-x) + 2.0;
  Value both = sum + Exp(x);
  return {first, scaled / both};
}
GRAPNEL_GRADIENT("SoftplusGrad", SoftplusGradOf);

// --- Biases.

GRAPNEL_GRADIENT("BiasAdd", [](G& g) -> InputGradients {
  return {g.dy(), g.Op("BiasAddGrad", {g.dy()}, g.Attrs({"data_format"}))};
});
GRAPNEL_GRADIENT("BiasAddV1", [](G& g) -> InputGradients {
  Value rank = Rank(g.dy());
  Value axes = g.Range(0, rank - 1);
  return {g.dy(), ReduceSum(g.dy(), axes)};
});
InputGradients BiasAddGradOf(G& g) {
  Value shape = g.ShapeOf(g.x(0));
  Value bias_shape = g.ShapeOf(g.dy());
  Value expanded, times;
  if (g.node().GetString("data_format") == "NCHW") {
    Value front = g.OnesLike(g.Cut(shape, 0, 1));
    Value back = g.OnesLike(g.Cut(shape, 2, G::kEnd));
    expanded = g.Concat({front, bias_shape, back}, 0);
    Value before = g.Cut(shape, 0, 1);
    times = g.Concat({before, std::vector<int>{1}, g.Cut(shape, 2, G::kEnd)}, 0);
  } else {
    expanded = g.Concat({g.OnesLike(g.Cut(shape, 0, -1)), bias_shape}, 0);
    times = g.Concat({g.Cut(shape, 0, -1), std::vector<int>{1}}, 0);
  }
  return {g.Op("Tile", {g.Reshape(g.dy(), expanded), times})};
}
GRAPNEL_GRADIENT("BiasAddGrad", BiasAddGradOf);

// --- Softmax and cross entropies.

InputGradients SoftmaxOf(G& g) {
  Value y = g.y(), dy = g.dy();
  Value sum = ReduceSum(dy * y, -1, /*keep_dims=*/true);
  return {(dy - sum) * y};
}
GRAPNEL_GRADIENT("Softmax", SoftmaxOf);

InputGradients LogSoftmaxOf(G& g) {
  Value softmax = Exp(g.y());
  Value scaled = ReduceSum(g.dy(), -1, /*keep_dims=*/true) * softmax;
  return {g.dy() - scaled};
}
GRAPNEL_GRADIENT("LogSoftmax", LogSoftmaxOf);

Value TimesRows(G& g, const Value& column, const Value& matrix) {
  return g.ExpandDims(column, -1) * matrix;
}

// Output 1 of the op is the gradient of output 0, the loss, with respect to the logits. If output 1
// is read too, adds the gradient that arrives there.
Value OfLogits(G& g) {
  Value gradient = TimesRows(g, g.dy(0), g.y(1));
  if (!g.has_dy(1)) return gradient;
  Value second = g.dy(1);
  Value softmax = g.Op("Softmax", {g.x(0)});
  Value row = g.ExpandDims(second, 1);
  Value product = g.MatMul(row, g.ExpandDims(softmax, 2));
  Value rest = second - g.Squeeze(product, {1});
  return gradient + rest * softmax;
}
constexpr uint64_t kOutput1 = 1 << 1;
GRAPNEL_GRADIENT(
    "SparseSoftmaxCrossEntropyWithLogits", [](G& g) -> InputGradients { return {OfLogits(g)}; },
    kOutput1);
InputGradients CrossEntropyOf(G& g) {
  Value of_logits = OfLogits(g);
  Value log_softmax = -g.Op("LogSoftmax", {g.x(0)}).output();
  return {of_logits, TimesRows(g, g.dy(0), log_softmax)};
}
GRAPNEL_GRADIENT("SoftmaxCrossEntropyWithLogits", CrossEntropyOf, kOutput1);

GRAPNEL_GRADIENT("L2Loss", [](G& g) -> InputGradients { return {g.x() * g.dy()}; });

// --- Normalization.

GRAPNEL_GRADIENT("LRN", [](G& g) -> InputGradients {
  return {
      g.Op("LRNGrad", {g.dy(), g.x(), g.y()}, g.Attrs({"depth_radius", "bias", "alpha", "beta"}))};
});
GRAPNEL_GRADIENT("BatchNormWithGlobalNormalization", [](G& g) -> InputGradients {
  Operation made =
      g.Op("BatchNormWithGlobalNormalizationGrad", {g.x(0), g.x(1), g.x(2), g.x(4), g.dy()},
           g.Attrs({"variance_epsilon", "scale_after_normalization"}));
  return {made.output(0), made.output(1), made.output(2), made.output(3), made.output(4)};
});

// In training, the statistics that the gradient op takes are outputs 3 and 4 of the forward op,
// otherwise its inputs 3 and 4. Outside training, the gradient op supports only formats with
// channels last.
InputGradients FusedBatchNormOf(G& g, const char* op, bool has_third) {
  std::string format = g.node().GetString("data_format");
  bool training = g.node().GetBool("is_training");
  bool is_nchw = format == "NCHW", is_ncdhw = format == "NCDHW";
  bool moves = !training && (is_nchw || is_ncdhw);
  Value x = g.x(0), dy = g.dy(0);
  std::vector<int> to_last =
      is_nchw ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{0, 2, 3, 4, 1};
  std::vector<int> back = is_nchw ? std::vector<int>{0, 3, 1, 2} : std::vector<int>{0, 4, 1, 2, 3};
  if (moves) {
    x = g.Transpose(x, to_last);
    dy = g.Transpose(dy, to_last);
  }
  if (!training) format = is_nchw || format == "NHWC" ? "NHWC" : "NDHWC";
  std::vector<Operand> operands = {dy, x, g.x(1), training ? g.y(3) : g.x(3),
                                   training ? g.y(4) : g.x(4)};
  if (has_third) operands.push_back(g.y(5));
  std::vector<OpAttribute> attributes = g.Attrs({"epsilon", "is_training"});
  attributes.emplace_back("data_format", llvm::StringRef(format));
  Operation made = g.Op(op, operands, attributes);
  Value gx = made.output(0);
  if (moves) gx = g.Transpose(gx, back);
  return {gx, made.output(1), made.output(2)};
}
constexpr uint64_t kStatistics = 0b111110;
GRAPNEL_GRADIENT(
    "FusedBatchNorm", [](G& g) { return FusedBatchNormOf(g, "FusedBatchNormGrad", false); },
    kStatistics);
GRAPNEL_GRADIENT(
    "FusedBatchNormV2", [](G& g) { return FusedBatchNormOf(g, "FusedBatchNormGradV2", false); },
    kStatistics);
GRAPNEL_GRADIENT(
    "FusedBatchNormV3", [](G& g) { return FusedBatchNormOf(g, "FusedBatchNormGradV3", true); },
    kStatistics);

// --- Top-k.

InputGradients TopKOf(G& g) {
  Value in_shape = g.ShapeOf(g.x(0));
  Value shape = g.ShapeOf(g.y(1));
  auto last_of = [&](const Value& dims) {
    Value wide = Cast(dims, proto::DT_INT64);
    Value last = g.Size(dims) - 1;
    return g.Gather(wide, last);
  };
  Value columns = last_of(shape);
  Value matrix = g.Reshape(g.y(1), g.Stack({-1, columns}));
  Value in_columns = last_of(in_shape);
  Value rows = g.At(g.ShapeOf(matrix), 0);
  Value in_size = Cast(rows, proto::DT_INT64) * in_columns;
  Value starts = g.Range(0, in_size, in_columns);
  Value offsets = Cast(g.ExpandDims(starts, -1), proto::DT_INT32);
  Value flat = g.Reshape(matrix + offsets, std::vector<int>{-1});
  Value indices = g.ExpandDims(flat, -1);
  Value values = g.Reshape(g.dy(0), std::vector<int>{-1});
  Value size = ReduceProd(in_shape);
  Value scattered;
  {
    auto scope = g.Scope("ScatterNd");
    scattered = g.Exact("ScatterNd", {indices, values, g.Stack({size}, 0, "shape")});
  }
  Value gradient = g.Reshape(scattered, in_shape);
  Value none = g.Zeros(llvm::ArrayRef<int64_t>(), proto::DT_INT32);
  return {gradient, none};
}
GRAPNEL_GRADIENT("TopK", TopKOf);
GRAPNEL_GRADIENT("TopKV2", TopKOf);

// Scatters the gradient to the positions of the largest elements, which need an index for each
// dimension.
InputGradients ApproxTopKOf(G& g) {
  Shape in = g.x().shape(), out = g.y(1).shape();
  if (!in.IsFullyKnown() || !out.IsFullyKnown())
    return g.Fail("its gradient needs the shape of its input, which must be known while tracing");
  const int rank = out.rank();
  int64_t reduced = g.node().GetInt("reduction_dimension", -1);
  if (reduced < 0) reduced += rank;
  std::vector<int> lifted(out.dims().begin(), out.dims().end());
  lifted.push_back(1);
  std::vector<Operand> places;
  for (int d = 0; d < rank; ++d) {
    if (d == reduced) {
      places.emplace_back(g.Reshape(g.y(1), lifted));
      continue;
    }
    std::vector<int> along(rank + 1, 1);
    along[d] = lifted[d];
    Value numbers = g.Reshape(g.Range(0, lifted[d]), along);
    places.emplace_back(g.Op("BroadcastTo", {numbers, lifted}));
  }
  const int count = static_cast<int>(out.NumElements().value_or(0));
  Value indices = g.Reshape(g.Concat(places, rank), std::vector<int>{count, rank});
  Value values = g.Reshape(g.dy(0), std::vector<int>{count});
  std::vector<int> shape(in.dims().begin(), in.dims().end());
  return {g.Op("ScatterNd", {indices, values, shape})};
}
GRAPNEL_GRADIENT("ApproxTopK", ApproxTopKOf);

InputGradients NthElementOf(G& g) {
  Value y = g.ExpandDims(g.y(), -1);
  Value is_nth = Cast(g.Op("Equal", {y, g.x(0)}), g.dy().dtype());
  Value dy = g.ExpandDims(g.dy(), -1);
  Value count = g.ExpandDims(ReduceSum(is_nth, -1), -1);
  return {is_nth / count * dy};
}
GRAPNEL_GRADIENT("NthElement", NthElementOf);

// In each row, all elements of a segment get the mean of the segment's gradients.
InputGradients IsotonicRegressionOf(G& g) {
  Shape shape = g.x().shape();
  if (!shape.known_rank() || shape.rank() < 1 || !shape.IsKnown(0))
    return g.Fail("its gradient needs the number of rows, which must be known while tracing");
  int64_t rows = shape.dim(0);
  auto split = [&](const Value& x) {
    Operation made = g.Op("Split", {0, x}, {{"num_split", rows}}, "split");
    Values parts;
    for (int i = 0; i < rows; ++i) parts.push_back(made.output(i));
    return parts;
  };
  Values gradients = split(g.dy(0));
  Values segments = split(g.y(1));
  Values results;
  for (int64_t i = 0; i < rows; ++i) {
    Value count = ReduceMax(segments[i]) + 1;
    Value mean;
    {
      auto scope = g.Scope("UnsortedSegmentMean");
      Value ids_shape = g.ShapeOf(segments[i]);
      Value ones = g.Ones(ids_shape, gradients[i].dtype());
      Value sizes = g.Op("UnsortedSegmentSum", {ones, segments[i], count});
      Value added = Rank(gradients[i]) - Rank(segments[i]);
      Value inner = g.Ones(std::vector<Operand>{added}, proto::DT_INT32);
      sizes = g.Reshape(sizes, g.Concat({Slice(count, {kNewAxis}), inner}, 0));
      Value at_least_one = g.Op("Maximum", {sizes, 1});
      Value sums = g.Op("UnsortedSegmentSum", {gradients[i], segments[i], count});
      mean = sums / at_least_one;
    }
    results.push_back(g.Reshape(g.Gather(mean, segments[i]), std::vector<int>{-1}));
  }
  return {g.Op("Pack", {results}, {}, "stack")};
}
GRAPNEL_GRADIENT("IsotonicRegression", IsotonicRegressionOf);

}  // namespace
}  // namespace grapnel
