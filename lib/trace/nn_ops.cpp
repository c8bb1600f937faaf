#include "lib/trace/nn_ops.h"

#include <cmath>

#include "lib/trace/array_ops.h"
#include "lib/trace/gradient.h"
#include "lib/trace/math_ops.h"
#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

// Returns a size or stride for all four dimensions: [1, 2, 2, 1] for {2}, [1, 2, 3, 1] for {2, 3}.
std::vector<int64_t> OfImages(const std::vector<int>& sizes) {
  if (sizes.size() == 4) return {sizes.begin(), sizes.end()};
  int height = sizes.empty() ? 1 : sizes.front(), width = sizes.empty() ? 1 : sizes.back();
  return {1, height, width, 1};
}

// Returns a number with the dtype of `beside`, the other operand, as TensorFlow converts a Python
// number.
Operand Number(double number, const Value& beside, const SourceLocation& where) {
  return Operand(Literal::Scalar(beside.ok() ? beside.dtype() : proto::DT_FLOAT, number), where);
}

Value Multiply(const OpBuilder& make, const Operand& x, const Operand& y) {
  return make.Scoped("Mul", {x, y}, {}, "mul");
}

}  // namespace

Value Softmax(const Value& logits, SourceLocation where) {
  return UnaryOp("Softmax", logits, where);
}
Value LogSoftmax(const Value& logits, SourceLocation where) {
  return UnaryOp("LogSoftmax", logits, where);
}
Value Softplus(const Value& x, SourceLocation where) { return UnaryOp("Softplus", x, where); }
Value Elu(const Value& x, SourceLocation where) { return UnaryOp("Elu", x, where); }
Value Selu(const Value& x, SourceLocation where) { return UnaryOp("Selu", x, where); }
Value Relu6(const Value& x, SourceLocation where) { return UnaryOp("Relu6", x, where); }

Value LogSigmoid(const Value& x, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("LogSigmoid");
  return make.Exact("Neg", Softplus(make.Op("Neg", x), where));
}

Value LeakyRelu(const Value& x, float alpha, SourceLocation where) {
  return OpBuilder(x, where).Scoped("LeakyRelu", x, {{"alpha", alpha}});
}

Value Gelu(const Value& x, bool approximate, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  auto scope = make.Scope("Gelu");
  auto number = [&](double value) { return Number(value, x, where); };
  if (approximate) {
    Value coefficient = make.Scalar(0.044715, x.dtype(), "Cast/x");
    Value half = Multiply(make, number(0.5), x);
    Value cube = make.Scoped("Pow", {x, number(3)});
    Value sum = make.Scoped("AddV2", {x, Multiply(make, coefficient, cube)}, {}, "add");
    Value tanh = Tanh(Multiply(make, number(0.7978845608028654), sum), where);
    Value factor = make.Scoped("AddV2", {number(1), tanh}, {}, "add");
    return Multiply(make, half, factor);
  }
  Value half = Multiply(make, number(0.5), x);
  Value negative = make.Op("Neg", x);
  Value root = make.Scalar(std::sqrt(0.5), x.dtype(), "Cast/x");
  Value tail = Erfc(Multiply(make, negative, root), where);
  return Multiply(make, half, tail);
}

Value Silu(const Value& x, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  Value beta = make.Scalar(1, x.dtype(), "beta");
  Value scaled = Multiply(make, beta, x);
  return Multiply(make, x, Sigmoid(scaled, where));
}

Value BiasAdd(const Value& x, const Value& bias, SourceLocation where) {
  return OpBuilder(x, where).Scoped("BiasAdd", {x, bias}, {{"data_format", "NHWC"}});
}

Value L2Loss(const Value& x, SourceLocation where) { return UnaryOp("L2Loss", x, where); }

Value L2Normalize(const Value& x, int axis, double epsilon, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("l2_normalize");
  Value sum = ReduceSum(Square(x, where), Operand(axis, where), /*keep_dims=*/true, where);
  Value bounded = make.Op("Maximum", {sum, Number(epsilon, x, where)});
  return make.Exact("Mul", {x, Rsqrt(bounded, where)});
}

Value Conv2D(const Value& x, const Value& filter, const std::vector<int>& strides,
             llvm::StringRef padding, SourceLocation where) {
  return OpBuilder(x, where).Op("Conv2D", {x, filter},
                                {{"strides", OfImages(strides)}, {"padding", padding}});
}

Value MaxPool2D(const Value& x, const std::vector<int>& size, const std::vector<int>& strides,
                llvm::StringRef padding, SourceLocation where) {
  return OpBuilder(x, where).Scoped(
      "MaxPool", x,
      {{"ksize", OfImages(size)}, {"strides", OfImages(strides)}, {"padding", padding}},
      "MaxPool2d");
}

Value AvgPool2D(const Value& x, const std::vector<int>& size, const std::vector<int>& strides,
                llvm::StringRef padding, SourceLocation where) {
  return OpBuilder(x, where).Scoped(
      "AvgPool", x,
      {{"ksize", OfImages(size)}, {"strides", OfImages(strides)}, {"padding", padding}},
      "AvgPool2D");
}

MomentsResult Moments(const Value& x, const std::vector<int>& axes, bool keep_dims,
                      SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("moments");
  std::vector<OpAttribute> keep = {{"keep_dims", true}};
  Value mean = make.Op("Mean", {x, axes}, keep, "mean");
  Value squares = SquaredDifference(x, StopGradient(mean, where), where);
  Value variance = make.Op("Mean", {squares, axes}, keep, "variance");
  if (keep_dims) return {mean, variance};
  std::vector<int64_t> dims(axes.begin(), axes.end());
  Value flat_mean = Squeeze(mean, dims, where);
  return {flat_mean, Squeeze(variance, dims, where)};
}

Value BatchNormalization(const Value& x, const Value& mean, const Value& variance,
                         const Value& offset, const Value& scale, double epsilon,
                         SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("batchnorm");
  auto add = [&](const Operand& a, const Operand& b) {
    return make.Scoped("AddV2", {a, b}, {}, "add");
  };
  Value factor = Rsqrt(add(variance, Number(epsilon, variance, where)), where);
  if (scale.body()) factor = Multiply(make, factor, scale);
  Value scaled = Multiply(make, x, factor);
  if (!offset.body()) {
    Value negative = make.Op("Neg", mean);
    return add(scaled, Multiply(make, negative, factor));
  }
  Value moved = Multiply(make, mean, factor);
  return add(scaled, make.Scoped("Sub", {offset, moved}, {}, "sub"));
}

FusedBatchNormResult FusedBatchNorm(const Value& x, const Value& scale, const Value& offset,
                                    const FusedBatchNormOptions& options, SourceLocation where) {
  OpBuilder make(x, where);
  Value mean = options.mean, variance = options.variance;
  if (!mean.body()) mean = make.Constant(Literal::Make(proto::DT_FLOAT, {0}, ""));
  if (!variance.body()) variance = make.Constant(Literal::Make(proto::DT_FLOAT, {0}, ""));
  Operation op = make.Op("FusedBatchNormV3", {x, scale, offset, mean, variance},
                         {{"epsilon", options.epsilon}, {"is_training", options.is_training}});
  return {op.output(0), op.output(1), op.output(2)};
}

Value EmbeddingLookup(const Value& table, const Value& ids, SourceLocation where) {
  OpBuilder make(table, where);
  if (!table.ok()) return table;
  auto scope = make.Scope("embedding_lookup");
  Value rows;
  {
    TraceBody& body = make.body();
    std::string before = body.colocated_with;
    if (table.body() == &body && !body.is_eager)
      body.colocated_with = body.graph->node(table.port().node).name().str();
    rows = make.Exact("GatherV2", {table, ids, 0}, {{"batch_dims", 0}});
    body.colocated_with = before;
  }
  return Identity(rows, {}, where);
}

namespace {

// Reshapes x, of any rank, to [-1, classes], as tf.nn._flatten_outer_dims does: computes the shape
// when the graph runs.
Value FlattenOuter(const OpBuilder& make, const Value& x) {
  Value rank = Rank(x, make.where());
  Value shape = ShapeOf(x, make.where());
  Value last = make.Op("Sub", {rank, 1});
  Value classes;
  {
    auto scope = make.Scope("Slice");
    Value begin = make.Packed({Operand(last, make.where())}, "begin");
    classes = make.Exact("Slice", {shape, begin, std::vector<int>{1}});
  }
  Value sizes;
  {
    auto scope = make.Scope("concat");
    Value any = make.Ints({-1}, "values_0");
    sizes = make.Exact("ConcatV2", {Values{any, classes}, 0});
  }
  return make.Op("Reshape", {x, sizes});
}

}  // namespace

Value SoftmaxCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                    SourceLocation where) {
  OpBuilder make(logits, where);
  if (!logits.ok() || !labels.ok()) return logits.ok() ? labels : logits;
  auto scope = make.Scope("softmax_cross_entropy_with_logits");
  Value rank = Rank(logits, where);
  Value shape = ShapeOf(logits, where);
  Value flat_logits = FlattenOuter(make, logits);
  Value flat_labels = FlattenOuter(make, labels);
  Value losses = make.Exact("SoftmaxCrossEntropyWithLogits", {flat_logits, flat_labels});
  Value last = make.Op("Sub", {rank, 1});
  Value outer;
  {
    auto slice = make.Scope("Slice");
    Value begin = make.Ints({0}, "begin");
    Value size = make.Packed({Operand(last, where)}, "size");
    outer = make.Exact("Slice", {shape, begin, size});
  }
  return make.Op("Reshape", {losses, outer});
}

Value SparseSoftmaxCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                          SourceLocation where) {
  OpBuilder make(logits, where);
  if (!logits.ok() || !labels.ok()) return logits.ok() ? labels : logits;
  auto scope = make.Scope("SparseSoftmaxCrossEntropyWithLogits");
  ShapeOf(labels, where);
  return make.Op("SparseSoftmaxCrossEntropyWithLogits", {logits, labels});
}

Value SigmoidCrossEntropyWithLogits(const Value& labels, const Value& logits,
                                    SourceLocation where) {
  OpBuilder make(logits, where);
  if (!logits.ok()) return logits;
  auto scope = make.Scope("logistic_loss");
  Value zeros = ZerosLike(logits, where);
  Value is_positive = make.Op("GreaterEqual", {logits, zeros});
  Value positive = make.Op("Select", {is_positive, logits, zeros});
  Value negative = make.Op("Neg", logits);
  Value minus_size = make.Op("Select", {is_positive, negative, logits});
  Value product = Multiply(make, logits, labels);
  Value difference = make.Scoped("Sub", {positive, product}, {}, "sub");
  return make.Exact("AddV2", {difference, Log1p(Exp(minus_size, where), where)});
}

}  // namespace grapnel
