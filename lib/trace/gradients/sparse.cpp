// Sparse tensors, given as indices, values and a shape; LSTM blocks; CTC.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Sparse tensors. Of a sparse tensor, only the values have a gradient.

GRAPNEL_GRADIENT("SparseReorder", [](G& g) -> InputGradients {
  Value count = g.At(g.ShapeOf(g.x(0)), 0);
  Value places = g.Range(0, count);
  Operation ordered = g.Op("SparseReorder", {g.x(0), places, g.x(2)});
  Value back = g.Op("InvertPermutation", {ordered.output(1)});
  return {Gradient(), g.Gather(g.dy(1), back)};
});
GRAPNEL_GRADIENT("SparseAdd", [](G& g) -> InputGradients {
  Operation made = g.Op("SparseAddGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)});
  return {Gradient(), made.output(0), Gradient(), Gradient(), made.output(1)};
});
GRAPNEL_GRADIENT("SparseTensorDenseAdd", [](G& g) -> InputGradients {
  return {Gradient(), g.Op("GatherNd", {g.dy(), g.x(0)}), Gradient(), g.dy()};
});
GRAPNEL_GRADIENT("SparseReduceSum", [](G& g) -> InputGradients {
  Operand kept = g.ReducedShape(g.x(2), g.x(3));
  Value spread = g.Reshape(g.dy(), kept);
  Value shape;
  if (kept.kind == Operand::kValue) {
    shape = Cast(kept.values[0], proto::DT_INT64);
  } else {
    auto scope = g.Scope("Cast");
    Value numbers = g.ConstantInts(kept.literal.AsInts(), proto::DT_INT32, "x");
    shape = g.Exact("Cast", {numbers}, {{"DstT", proto::DT_INT64}});
  }
  Value scale = FloorDiv(g.x(2), shape);
  return {Gradient(), g.Op("GatherNd", {spread, FloorDiv(g.x(0), scale)})};
});
GRAPNEL_GRADIENT("SparseSlice", [](G& g) -> InputGradients {
  return {Gradient(), g.Op("SparseSliceGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)})};
});
GRAPNEL_GRADIENT("SparseToDense", [](G& g) -> InputGradients {
  Value values = g.Op("GatherNd", {g.dy(), g.x(0)});
  Value all = ReduceSum(g.dy());
  Value rest = all - ReduceSum(values);
  Value of_indices = g.ZerosLike(g.x(0));
  return {of_indices, g.ZerosLike(g.x(1)), values, rest};
});
InputGradients FillEmptyRowsOf(G& g, const char* op) {
  Operation made = g.Op(op, {g.y(3), g.dy(1)});
  return {Gradient(), made.output(0), Gradient(), made.output(1)};
}
GRAPNEL_GRADIENT("SparseFillEmptyRows",
                 [](G& g) { return FillEmptyRowsOf(g, "SparseFillEmptyRowsGrad"); });
GRAPNEL_GRADIENT("RaggedFillEmptyRows",
                 [](G& g) { return FillEmptyRowsOf(g, "RaggedFillEmptyRowsGrad"); });

// a[:, column] of a matrix of indices.
Value Column(G& g, const Value& indices, int64_t column) {
  auto scope = g.Scope("strided_slice");
  Value from = g.ConstantInts({0, column}, proto::DT_INT32, "stack");
  Value to = g.ConstantInts({0, column + 1}, proto::DT_INT32, "stack");
  Value by = g.ConstantInts({1, 1}, proto::DT_INT32, "stack");
  return g.Exact("StridedSlice", {indices, from, to, by},
                 {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
}
InputGradients SparseDenseMatMulOf(G& g) {
  Value indices = g.x(0), values = g.x(1), shape = g.x(2), b = g.x(3), dy = g.dy();
  bool adjoint_a = g.node().GetBool("adjoint_a"), adjoint_b = g.node().GetBool("adjoint_b");
  Value of_b =
      g.Op("SparseTensorDenseMatMul", {indices, values, shape, dy}, {{"adjoint_a", !adjoint_a}});
  if (adjoint_b) of_b = g.MatrixTranspose(of_b, true);
  Value rows = Column(g, indices, 0);
  Value columns = Column(g, indices, 1);
  Value from_dy = g.Gather(dy, adjoint_a ? columns : rows);
  Value right = adjoint_b ? g.Transpose(b, std::vector<int>{1, 0}) : b;
  Value from_b = g.Gather(right, adjoint_a ? rows : columns);
  // The gradient of each value of the sparse matrix is a row times a column.
  Value one = g.ExpandDims(from_dy, adjoint_a ? -1 : -2);
  Value other = g.ExpandDims(from_b, adjoint_a == adjoint_b ? -2 : -1);
  Value products =
      g.MatMul(one, other, {.adjoint_a = adjoint_a, .adjoint_b = adjoint_a == adjoint_b});
  return {Gradient(), g.Squeeze(products, {-2, -1}), Gradient(), of_b};
}
GRAPNEL_GRADIENT("SparseTensorDenseMatMul", SparseDenseMatMulOf);

enum class DenseOp { kAdd, kMul, kDiv };
InputGradients SparseDenseCwise(G& g, DenseOp kind) {
  Value indices = g.x(0), values = g.x(1), shape = g.x(2), y = g.x(3);
  Value y_shape = Cast(g.ShapeOf(y), proto::DT_INT64);
  Value difference = g.Size(shape) - g.Size(y_shape);
  Value added = g.ExpandDims(difference, 0);
  Value ones = g.Ones(added, proto::DT_INT64);
  Value wide = g.Concat({ones, y_shape}, 0);
  Value scale = FloorDiv(shape, wide);
  Value scaled = FloorDiv(indices, scale);
  Value begin = g.Concat({std::vector<int>{0}, added}, 0);
  Value places = g.Op("Slice", {scaled, begin, std::vector<int>{-1, -1}});
  Value gx = g.dy(), of_y = g.dy();
  if (kind != DenseOp::kAdd) {
    Value dense = g.Op("GatherNd", {y, places});
    if (kind == DenseOp::kMul) {
      gx = g.dy() * dense;
      of_y = g.dy() * values;
    } else {
      gx = g.dy() / dense;
      Value ratio = -values / Square(dense);
      of_y = g.dy() * ratio;
    }
  }
  Value zeros = g.ZerosLike(y);
  Value gy = g.Op("SparseTensorDenseAdd", {places, of_y, y_shape, zeros});
  return {Gradient(), gx, Gradient(), gy};
}
// TensorFlow has a rule for this sum too, but it fails.
GRAPNEL_GRADIENT("SparseDenseCwiseAdd", [](G& g) { return SparseDenseCwise(g, DenseOp::kAdd); });
GRAPNEL_GRADIENT("SparseDenseCwiseMul", [](G& g) { return SparseDenseCwise(g, DenseOp::kMul); });
GRAPNEL_GRADIENT("SparseDenseCwiseDiv", [](G& g) { return SparseDenseCwise(g, DenseOp::kDiv); });

// The gradient of each position goes to the operand whose value was selected, and to a if both are
// equal. A position that an operand lacks counts as 0. TensorFlow has rules for these ops, but they
// fail.
InputGradients SparseExtremeOf(G& g, const char* a_wins) {
  Value a_indices = g.x(0), a = g.x(1), b_indices = g.x(3), b = g.x(4), dy = g.dy(1);
  auto at_all_places = [&](const Value& first, const Value& second) {
    Value none = g.Constant(0, a.dtype());
    Operation sum = g.Op("SparseAdd", {a_indices, first, g.x(2), b_indices, second, g.x(5), none},
                         {{"Treal", a.dtype()}});
    return sum.output(1);
  };
  Value of_a = at_all_places(a, g.ZerosLike(b));
  Value of_b = at_all_places(g.ZerosLike(a), b);
  Value is_a = g.Op(a_wins, {of_a, of_b});
  Value zeros = g.ZerosLike(dy);
  auto back = [&](const Value& first, const Value& second, int i) {
    Value part = g.Op("SelectV2", {is_a, first, second});
    return g.Op("SparseAddGrad", {part, a_indices, b_indices, g.y(0)}).output(i);
  };
  Value ga = back(dy, zeros, 0);
  Value gb = back(zeros, dy, 1);
  return {Gradient(), ga, Gradient(), Gradient(), gb};
}
GRAPNEL_GRADIENT("SparseSparseMaximum", [](G& g) { return SparseExtremeOf(g, "GreaterEqual"); });
GRAPNEL_GRADIENT("SparseSparseMinimum", [](G& g) { return SparseExtremeOf(g, "LessEqual"); });

GRAPNEL_GRADIENT("SparseSoftmax", [](G& g) -> InputGradients {
  Value indices = g.x(0), shape = g.x(2), y = g.y();
  Value product = y * g.dy();
  Value sum = g.Op("SparseReduceSum", {indices, product, shape, std::vector<int>{-1}},
                   {{"keep_dims", true}});
  Value negative = -sum;
  Value shifted = g.Op("SparseDenseCwiseAdd", {indices, g.dy(), shape, negative});
  return {Gradient(), shifted * y};
});

GRAPNEL_NO_GRADIENT("SparseAddGrad");
GRAPNEL_NO_GRADIENT("SparseConcat");

// --- LSTM blocks, which have an op for their gradient, and CTC losses, which compute their
// gradient as an output.

InputGradients BlockLstmOf(G& g) {
  std::vector<Operand> operands;
  operands.reserve(18);
  for (int i = 0; i < 9; ++i) operands.push_back(g.x(i));
  for (int i = 0; i < 7; ++i) operands.push_back(g.y(i));
  operands.push_back(g.dy(1));
  operands.push_back(g.dy(6));
  Operation made = g.Op("BlockLSTMGrad", operands, g.Attrs({"use_peephole"}));
  InputGradients gradients(1);
  for (int i = 0; i < 8; ++i) gradients.push_back(made.output(i));
  return gradients;
}
GRAPNEL_GRADIENT("BlockLSTM", BlockLstmOf);
GRAPNEL_GRADIENT("BlockLSTMV2", BlockLstmOf);

InputGradients CtcLossOf(G& g) {
  Value first = PreventGradient(
      g.y(1),
      "Currently there is no way to take the second  derivative of ctc_loss due to the fused "
      "implementation's interaction  with tf.gradients()");
  return {g.ExpandDims(g.dy(0), -1) * first};
}
GRAPNEL_GRADIENT("CTCLoss", CtcLossOf);
GRAPNEL_GRADIENT("CTCLossV2", CtcLossOf);

}  // namespace
}  // namespace grapnel
