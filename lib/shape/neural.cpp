// Shape functions of neural network ops without sliding windows: normalization, bias, losses,
// cells, quantization.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

void BiasAddShape(ShapeContext& c) {
  Shape shape = c.WithRankAtLeast(0, 2), bias = c.WithRank(1, 1);
  if (!shape.known_rank()) return;
  int channel = c.String("data_format") == "NCHW" ? 1 : shape.rank() - 1;
  shape.set_dim(channel, c.Equal(shape.dim(channel), bias.dim(0), "channels and biases"));
  c.Out(0, std::move(shape));
}

void BiasAddGradShape(ShapeContext& c) {
  const Shape& shape = c.WithRankAtLeast(0, 2);
  bool first = c.String("data_format") == "NCHW";
  c.Out(0, VectorOf(shape.known_rank() ? shape.dim(first ? 1 : shape.rank() - 1) : kUnknownDim));
}

int ChannelOf(ShapeContext& c, const Shape& shape) {
  return c.String("data_format").take_front(2) == "NC" ? 1 : shape.rank() - 1;
}

// The inputs are x, and the scale, offset, mean and variance of its channels.
void FusedBatchNormShape(ShapeContext& c) {
  Shape x = c.WithRank(0, static_cast<int>(c.String("data_format").size()));
  if (!c.problem.empty() || x.rank() < 2) return;
  int channel = ChannelOf(c, x);
  int64_t depth = x.dim(channel);
  // In training, the inputs mean and variance may be empty: the op computes them.
  int vectors = c.Bool("is_training", true) ? 3 : 5;
  for (int i = 1; i < vectors; ++i) {
    depth = c.Equal(depth, c.WithRank(i, 1).dim(0), "channels and their parameters");
  }
  x.set_dim(channel, depth);
  c.Out(0, std::move(x));
  for (int i = 1; i < 5; ++i) c.Out(i, VectorOf(depth));
}

void FusedBatchNormGradShape(ShapeContext& c) {
  int rank = static_cast<int>(c.String("data_format").size());
  Shape y = c.WithRank(0, rank), x = c.WithRank(1, rank);
  if (!c.problem.empty() || rank < 2) return;
  int channel = ChannelOf(c, x);
  int64_t depth = c.Equal(x.dim(channel), y.dim(channel), "channels");
  for (int i = 2; i < std::min(c.num_inputs(), 5); ++i) {
    depth = c.Equal(depth, c.WithRank(i, 1).dim(0), "channels and their parameters");
  }
  x.set_dim(channel, depth);
  c.Out(0, MergeShapes(y, x).value_or(x));
  for (int i = 1; i <= 2; ++i) c.Out(i, VectorOf(depth));
  for (int i = 3; i < 5; ++i) c.Out(i, VectorOf(0));
}

void SoftmaxShape(ShapeContext& c) { c.Out(0, c.WithRankAtLeast(0, 1)); }

void DenseLossShape(ShapeContext& c) {
  Shape sides[2];
  for (int i = 0; i < 2; ++i) sides[i] = c.in(i).known_rank() ? c.in(i) : Shape::UnknownOfRank(2);
  std::optional<Shape> both = BroadcastShapes(sides[0], sides[1]);
  if (!both) {
    return c.Fail("{0} cannot broadcast {1} and {2} together", c.op(), c.in(0).ToString(),
                  c.in(1).ToString());
  }
  if (both->rank() != 2)
    return c.Fail("{0} needs logits of rank 2, got {1}", c.op(), both->ToString());
  c.Out(0, VectorOf(both->dim(0)));
  c.Out(1, std::move(*both));
}

void SparseLossShape(ShapeContext& c) {
  Shape logits = c.WithRank(0, 2), labels = c.WithRank(1, 1);
  int64_t batch = c.Equal(logits.dim(0), labels.dim(0), "batch sizes");
  c.Out(0, VectorOf(batch));
  c.Out(1, MatrixOf(batch, logits.dim(1)));
}

void InTopKShape(ShapeContext& c) {
  Shape predictions = c.WithRank(0, 2), targets = c.WithRank(1, 1);
  c.Out(0, VectorOf(c.Equal(predictions.dim(0), targets.dim(0), "batch sizes")));
}

void Like4DShape(ShapeContext& c) { c.Out(0, c.WithRank(0, 4)); }

void LRNGradShape(ShapeContext& c) {
  Shape shape = c.Equal(c.Equal(c.WithRank(0, 4), c.WithRank(1, 4)), c.WithRank(2, 4));
  c.Out(0, std::move(shape));
}

void NthElementShape(ShapeContext& c) { c.Out(0, SubShape(c.WithRankAtLeast(0, 1), 0, -1)); }

// Returns the k largest elements along the last dimension; k is an attribute, or input 1.
void TopKShape(ShapeContext& c) {
  const Shape& shape = c.WithRankAtLeast(0, 1);
  int64_t k = c.op() == "TopKV2" ? c.SizeFrom(1) : c.Int("k", kUnknownDim);
  if (!shape.known_rank() || shape.rank() == 0) return;
  int64_t last = shape.dim(shape.rank() - 1);
  if (last >= 0 && k > last)
    return c.Fail("{0} needs at least {1} elements to choose from, got {2}", c.op(), k,
                  shape.ToString());
  Shape best = shape;
  best.set_dim(shape.rank() - 1, k);
  c.Out(0, best);
  c.Out(1, std::move(best));
}

// Returns the k largest elements along one dimension, or more than k if aggregate_to_topk is false.
void ApproxTopKShape(ShapeContext& c) {
  Shape shape = c.WithRankAtLeast(0, 1);
  if (!shape.known_rank() || shape.rank() == 0) return;
  std::optional<int> at = c.Axis(c.Int("reduction_dimension", -1), shape.rank());
  if (!at) return;
  shape.set_dim(*at, c.Bool("aggregate_to_topk", true) ? c.Int("k", kUnknownDim) : kUnknownDim);
  c.Out(0, shape);
  c.Out(1, std::move(shape));
}

void CTCLossShape(ShapeContext& c) {
  Shape inputs = c.WithRank(0, 3);
  c.Out(0, VectorOf(c.Equal(inputs.dim(1), c.WithRank(3, 1).dim(0), "batch sizes")));
  c.Out(1, std::move(inputs));
}

void CTCGreedyDecoderShape(ShapeContext& c) {
  Shape inputs = c.WithRank(0, 3);
  c.Out(0, MatrixOf(kUnknownDim, 2));
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(2));
  c.Out(3, MatrixOf(c.Equal(inputs.dim(1), c.WithRank(1, 1).dim(0), "batch sizes"), 1));
}

void LSTMBlockCellShape(ShapeContext& c) {
  int64_t batch = c.WithRank(0, 2).dim(0), cells = c.WithRank(1, 2).dim(1);
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, MatrixOf(batch, cells));
}

void GRUBlockCellShape(ShapeContext& c) { LSTMBlockCellShape(c); }

// The gradients for one time step: with respect to the previous state [batch, cells], the four
// gates [batch, 4 * cells] and the peepholes, which are vectors [cells].
void LSTMBlockCellGradShape(ShapeContext& c) {
  int64_t batch = c.WithRank(0, 2).dim(0), cells = c.WithRank(1, 2).dim(1);
  c.Out(0, MatrixOf(batch, cells));
  c.Out(1, MatrixOf(batch, MulDims(cells, 4)));
  for (int i = 2; i < c.num_outputs(); ++i) c.Out(i, VectorOf(cells));
}

void GRUBlockCellGradShape(ShapeContext& c) {
  int64_t batch = c.WithRank(0, 2).dim(0), cells = c.WithRank(1, 2).dim(1);
  c.Out(0, c.in(0));
  c.Out(1, MatrixOf(batch, cells));
  c.Out(2, MatrixOf(batch, cells));
  c.Out(3, MatrixOf(batch, MulDims(cells, 2)));
}

// Each output is the gradient with respect to an input, whose shape it has. Only the first input,
// the number of time steps, has no gradient.
void BlockLSTMGradShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, c.in(i + 1));
}

// The outputs have the shape [time, batch, cells]; the weights have columns for four gates.
void BlockLSTMShape(ShapeContext& c) {
  Shape x = c.WithRank(1, 3), bias = c.WithRank(c.num_inputs() - 1, 1);
  Shape out(Dims{x.dim(0), x.dim(1), DivDims(bias.dim(0), 4)});
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, out);
}

void CudnnRNNShape(ShapeContext& c) {
  Shape input = c.WithRank(0, 3), hidden = c.WithRank(1, 3);
  int64_t directions = c.String("direction") == "bidirectional" ? 2 : 1;
  c.Out(0, Shape(Dims{input.dim(0), input.dim(1), MulDims(hidden.dim(2), directions)}));
  c.Out(1, hidden);
  if (c.String("rnn_mode") == "lstm") c.Out(2, std::move(hidden));
}

// The outputs are the result and its minimum and maximum.
void QuantizedLikeShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  bool per_channel = c.Attr("axis") && c.Int("axis", -1) >= 0;
  for (int i = 1; i < c.num_outputs() && !per_channel; ++i) c.Out(i, Shape::Scalar());
  int64_t axis = c.Int("axis", -1);
  if (!per_channel || !c.in(0).known_rank() || axis >= c.in(0).rank()) return;
  for (int i = 1; i < c.num_outputs(); ++i) c.Out(i, VectorOf(c.in(0).dim(axis)));
}

// The outputs of the gradient of QuantizeAndDequantizeV4 have the shapes of the input and of the
// minimum and maximum.
void RoundingGradShape(ShapeContext& c) {
  c.OutEqual(0, c.Equal(c.in(0), c.in(1)));
  c.Out(1, c.in(2));
  c.Out(2, c.in(3));
}

void UniformDotShape(ShapeContext& c) {
  Shape left = c.WithRank(0, 2), right = c.WithRank(1, 2);
  c.Equal(left.dim(1), right.dim(0), "the columns of the first matrix and the rows of the second");
  c.Out(0, Shape(Dims{left.dim(0), right.dim(1)}));
}

void FakeQuantGradShape(ShapeContext& c) {
  c.OutEqual(0, c.Equal(c.in(0), c.in(1)));
  c.Out(1, Shape::Scalar());
  c.Out(2, Shape::Scalar());
}

void FakeQuantPerChannelGradShape(ShapeContext& c) {
  Shape shape = c.Equal(c.in(0), c.in(1));
  int64_t depth = c.Equal(c.WithRank(2, 1).dim(0), c.WithRank(3, 1).dim(0),
                          "the numbers of minimums and maximums");
  if (shape.known_rank() && shape.rank() > 0)
    depth = c.Equal(depth, shape.dim(shape.rank() - 1), "channels and ranges");
  c.OutEqual(0, std::move(shape));
  c.Out(1, VectorOf(depth));
  c.Out(2, VectorOf(depth));
}

constexpr ShapeRule kRules[] = {
    {"BiasAdd", BiasAddShape},
    {"BiasAddGrad", BiasAddGradShape},
    {"BiasAddV1", BiasAddShape},
    {"FusedBatchNorm", FusedBatchNormShape},
    {"FusedBatchNormV2", FusedBatchNormShape},
    {"FusedBatchNormV3", FusedBatchNormShape},
    {"_FusedBatchNormEx", FusedBatchNormShape},
    {"FusedBatchNormGrad", FusedBatchNormGradShape},
    {"FusedBatchNormGradV2", FusedBatchNormGradShape},
    {"FusedBatchNormGradV3", FusedBatchNormGradShape},
    {"_FusedBatchNormGradEx", FusedBatchNormGradShape},
    {"BatchNormWithGlobalNormalization", Like4DShape},
    {"LRN", Like4DShape},
    {"LRNGrad", LRNGradShape},
    {"_MklLayerNorm", SameAsInput},
    {"_MklFusedInstanceNorm", SameAsInput},
    {"LogSoftmax", SoftmaxShape},
    {"Softmax", SoftmaxShape},
    {"L2Loss", ScalarOutputs},
    {"SoftmaxCrossEntropyWithLogits", DenseLossShape},
    {"SparseSoftmaxCrossEntropyWithLogits", SparseLossShape},
    {"InTopK", InTopKShape},
    {"InTopKV2", InTopKShape},
    {"NthElement", NthElementShape},
    {"TopK", TopKShape},
    {"TopKV2", TopKShape},
    {"TopKUnique", TopKShape},
    {"TopKWithUnique", TopKShape},
    {"ApproxTopK", ApproxTopKShape},
    {"DataFormatDimMap", SameAsInput},
    {"DataFormatVecPermute", SameAsInput},
    {"CTCLoss", CTCLossShape},
    {"CTCLossV2", CTCLossShape},
    {"CTCGreedyDecoder", CTCGreedyDecoderShape},
    {"LSTMBlockCell", LSTMBlockCellShape},
    {"GRUBlockCell", GRUBlockCellShape},
    {"GRUBlockCellGrad", GRUBlockCellGradShape},
    {"LSTMBlockCellGrad", LSTMBlockCellGradShape},
    {"BlockLSTMGrad", BlockLSTMGradShape},
    {"BlockLSTMGradV2", BlockLSTMGradShape},
    {"BlockLSTM", BlockLSTMShape},
    {"BlockLSTMV2", BlockLSTMShape},
    {"CudnnRNN", CudnnRNNShape},
    {"CudnnRNNV2", CudnnRNNShape},
    {"CudnnRNNV3", CudnnRNNShape},
    {"Dequantize", SameAsInput},
    {"QuantizeV2", QuantizedLikeShape},
    {"QuantizedRelu", QuantizedLikeShape},
    {"QuantizedRelu6", QuantizedLikeShape},
    {"Requantize", QuantizedLikeShape},
    {"RequantizePerChannel", QuantizedLikeShape},
    {"RequantizationRange", ScalarOutputs},
    {"RequantizationRangePerChannel", ScalarOutputs},
    {"QuantizeDownAndShrinkRange", QuantizedLikeShape},
    {"QuantizedBiasAdd", QuantizedLikeShape},
    {"QuantizedInstanceNorm", QuantizedLikeShape},
    {"QuantizedBatchNormWithGlobalNormalization", QuantizedLikeShape},
    {"QuantizeAndDequantizeV4Grad", RoundingGradShape},
    {"UniformQuantizedDot", UniformDotShape},
    {"UniformQuantizedDotHybrid", UniformDotShape},
    {"UniformQuantize", SameAsInput},
    {"UniformDequantize", SameAsInput},
    {"UniformRequantize", SameAsInput},
    {"UniformQuantizedClipByValue", SameAsInput},
    {"QuantizeAndDequantize", SameAsInput},
    {"QuantizeAndDequantizeV2", SameAsInput},
    {"QuantizeAndDequantizeV3", SameAsInput},
    {"QuantizeAndDequantizeV4", SameAsInput},
    {"FakeQuantWithMinMaxArgs", SameAsInput},
    {"FakeQuantWithMinMaxArgsGradient", SameAsInput},
    {"FakeQuantWithMinMaxVars", SameAsInput},
    {"FakeQuantWithMinMaxVarsPerChannel", SameAsInput},
    {"FakeQuantWithMinMaxVarsGradient", FakeQuantGradShape},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", FakeQuantPerChannelGradShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> NeuralShapeRules() { return kRules; }

}  // namespace grapnel
