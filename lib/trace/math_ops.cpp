#include "lib/trace/math_ops.h"

#include <numeric>

#include "lib/trace/array_ops.h"
#include "lib/trace/gradient.h"
#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

Value BinaryOp(llvm::StringRef op, const Operand& x, const Operand& y, const SourceLocation& where,
               const std::vector<OpAttribute>& attributes = {}, llvm::StringRef name = {}) {
  return OpBuilder(FirstValue(x, y), where).Op(op, {x, y}, attributes, name);
}

// The permutation that swaps the last two dimensions.
std::vector<int> SwappedMatrix(int rank) {
  std::vector<int> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
}

}  // namespace

Value Sin(const Value& x, SourceLocation where) { return UnaryOp("Sin", x, where); }
Value Cos(const Value& x, SourceLocation where) { return UnaryOp("Cos", x, where); }
Value Tan(const Value& x, SourceLocation where) { return UnaryOp("Tan", x, where); }
Value Erf(const Value& x, SourceLocation where) { return UnaryOp("Erf", x, where); }
Value Erfc(const Value& x, SourceLocation where) { return UnaryOp("Erfc", x, where); }
Value Floor(const Value& x, SourceLocation where) { return UnaryOp("Floor", x, where); }
Value Ceil(const Value& x, SourceLocation where) { return UnaryOp("Ceil", x, where); }
Value Round(const Value& x, SourceLocation where) { return OpBuilder(x, where).Scoped("Round", x); }
Value Sign(const Value& x, SourceLocation where) { return UnaryOp("Sign", x, where); }
Value Rsqrt(const Value& x, SourceLocation where) { return UnaryOp("Rsqrt", x, where); }
Value Log1p(const Value& x, SourceLocation where) { return UnaryOp("Log1p", x, where); }
Value Expm1(const Value& x, SourceLocation where) { return UnaryOp("Expm1", x, where); }
Value IsFinite(const Value& x, SourceLocation where) { return UnaryOp("IsFinite", x, where); }
Value IsNan(const Value& x, SourceLocation where) { return UnaryOp("IsNan", x, where); }
Value LogicalNot(const Value& x, SourceLocation where) { return UnaryOp("LogicalNot", x, where); }

Value Atan2(const Operand& y, const Operand& x, SourceLocation where) {
  return BinaryOp("Atan2", y, x, where);
}
Value Power(const Operand& x, const Operand& y, SourceLocation where) {
  return OpBuilder(FirstValue(x, y), where).Scoped("Pow", {x, y});
}
Value LogicalAnd(const Value& x, const Value& y, SourceLocation where) {
  return BinaryOp("LogicalAnd", x, y, where);
}
Value LogicalOr(const Value& x, const Value& y, SourceLocation where) {
  return BinaryOp("LogicalOr", x, y, where);
}
Value Equal(const Operand& x, const Operand& y, SourceLocation where) {
  return BinaryOp("Equal", x, y, where);
}
Value NotEqual(const Operand& x, const Operand& y, SourceLocation where) {
  return BinaryOp("NotEqual", x, y, where);
}
Value SquaredDifference(const Operand& x, const Operand& y, SourceLocation where) {
  return BinaryOp("SquaredDifference", x, y, where);
}
Value DivideNoNan(const Operand& x, const Operand& y, SourceLocation where) {
  return OpBuilder(FirstValue(x, y), where).Scoped("DivNoNan", {x, y}, {}, "div_no_nan");
}
Value AddN(const Values& values, SourceLocation where) {
  return OpBuilder(values, where).Op("AddN", Operand(values, where));
}

Value ReduceLogSumExp(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                      SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  auto scope = make.Scope("ReduceLogSumExp");
  Value largest = ReduceMax(x, axis, /*keep_dims=*/true, where);
  Value bounded = StopGradient(make.Op("SelectV2", {IsFinite(largest, where), largest,
                                                    Operand(Literal::Scalar(x.dtype(), 0), where)}),
                               where);
  Value shifted = make.Op("Sub", {x, bounded});
  Value logs = Log(ReduceSum(Exp(shifted, where), axis, keep_dims, where), where);
  if (!keep_dims) {
    // TensorFlow computes the shape when the graph runs, even if the shape is known while tracing.
    Value shape = make.Op("Shape", logs);
    bounded = make.Op("Reshape", {bounded, shape});
  }
  return make.Exact("AddV2", {logs, bounded});
}

Value ReduceVariance(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                     SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("reduce_variance");
  Value mean = ReduceMean(x, axis, /*keep_dims=*/true, where);
  Value centered = make.Scoped("Sub", {x, mean}, {}, "sub");
  return ReduceMean(Square(centered, where), axis, keep_dims, where);
}

Value ReduceStd(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("reduce_std");
  return Sqrt(ReduceVariance(x, axis, keep_dims, where), where);
}

Value ArgMax(const Value& x, int axis, DataType dtype, SourceLocation where) {
  return OpBuilder(x, where).Op("ArgMax", {x, axis}, {{"output_type", dtype}});
}
Value ArgMin(const Value& x, int axis, DataType dtype, SourceLocation where) {
  return OpBuilder(x, where).Op("ArgMin", {x, axis}, {{"output_type", dtype}});
}

TopKResult TopK(const Value& x, const Operand& k, SourceLocation where) {
  Operation op = OpBuilder(x, where).Op("TopKV2", {x, k});
  return {op.output(0), op.output(1)};
}

namespace {

// Returns values and indices in sorted order. TensorFlow sorts with TopKV2, and negates the values
// for an ascending sort.
TopKResult Sorted(const OpBuilder& make, const Value& x, bool descending) {
  make.Scalar(-1, proto::DT_INT32, "axis");
  Value values = descending ? x : make.Op("Neg", x).output();
  Value size = Slice(ShapeOf(x, make.where()), {SlicePlace(-1)}, make.where());
  Rank(x, make.where());
  return TopK(values, size, make.where());
}

}  // namespace

Value Sort(const Value& x, bool descending, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  auto scope = make.Scope("sort");
  Value values = Sorted(make, x, descending).values;
  return descending ? values : make.Op("Neg", values).output();
}

Value ArgSort(const Value& x, bool descending, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  auto scope = make.Scope("argsort");
  return Sorted(make, x, descending).indices;
}

Value Cumsum(const Value& x, int axis, const CumulativeOptions& options, SourceLocation where) {
  return OpBuilder(x, where).Scoped(
      "Cumsum", {x, axis}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}});
}
Value Cumprod(const Value& x, int axis, const CumulativeOptions& options, SourceLocation where) {
  return OpBuilder(x, where).Scoped(
      "Cumprod", {x, axis}, {{"exclusive", options.exclusive}, {"reverse", options.reverse}});
}

Value SegmentSum(const Value& x, const Operand& segments, SourceLocation where) {
  return OpBuilder(x, where).Op("SegmentSum", {x, segments});
}
Value SegmentMean(const Value& x, const Operand& segments, SourceLocation where) {
  return OpBuilder(x, where).Op("SegmentMean", {x, segments});
}
Value SegmentMax(const Value& x, const Operand& segments, SourceLocation where) {
  return OpBuilder(x, where).Op("SegmentMax", {x, segments});
}
Value SegmentMin(const Value& x, const Operand& segments, SourceLocation where) {
  return OpBuilder(x, where).Op("SegmentMin", {x, segments});
}
Value UnsortedSegmentSum(const Value& x, const Operand& segments, const Operand& count,
                         SourceLocation where) {
  return OpBuilder(x, where).Op("UnsortedSegmentSum", {x, segments, count});
}
Value UnsortedSegmentMax(const Value& x, const Operand& segments, const Operand& count,
                         SourceLocation where) {
  return OpBuilder(x, where).Op("UnsortedSegmentMax", {x, segments, count});
}

Value ClipByValue(const Value& x, const Operand& low, const Operand& high, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("clip_by_value");
  Value below = make.Op("Minimum", {x, high});
  return make.Exact("Maximum", {below, low});
}

Value ClipByNorm(const Value& x, const Operand& norm, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  auto scope = make.Scope("clip_by_norm");
  Value squares = make.Scoped("Mul", {x, x}, {}, "mul");
  Value sum = ReduceSum(squares, {}, /*keep_dims=*/true, where);
  Value is_positive = make.Op("Greater", {sum, 0});
  Value ones;
  {
    auto like = make.Scope("ones_like");
    Value shape;
    {
      auto of_shape = make.Scope("Shape");
      Shape known = sum.shape();
      shape = known.IsFullyKnown() ? make.Ints(known.dims(), "shape_as_tensor")
                                   : make.Op("Shape", sum).output();
    }
    ones = make.Exact("Fill", {shape, make.Scalar(1, x.dtype())});
  }
  // The gradient of a square root is infinite at 0, so Sqrt gets 1 where the sum is 0; the next
  // Select then restores the 0.
  Value root = Sqrt(make.Op("Select", {is_positive, sum, ones}), where);
  Value length = make.Op("Select", {is_positive, root, sum});
  Value scaled = make.Scoped("Mul", {x, norm}, {}, "mul");
  Value divisor = make.Op("Maximum", {length, norm});
  return make.Exact("Identity", make.Scoped("RealDiv", {scaled, divisor}, {}, "truediv"));
}

Value Einsum(llvm::StringRef equation, const Values& values, SourceLocation where) {
  OpBuilder make(values, where);
  auto scope = make.Scope("einsum");
  return make.Op("Einsum", Operand(values, where), {{"equation", equation}});
}

Value MatVec(const Value& a, const Value& x, SourceLocation where) {
  OpBuilder make(a, where);
  auto scope = make.Scope("MatVec");
  return Squeeze(MatMul(a, ExpandDims(x, -1, where), false, false, where), {-1}, where);
}

Value Solve(const Value& a, const Value& b, bool adjoint, SourceLocation where) {
  return OpBuilder(a, where).Op("MatrixSolve", {a, b}, {{"adjoint", adjoint}});
}
Value Cholesky(const Value& a, SourceLocation where) { return UnaryOp("Cholesky", a, where); }
Value Det(const Value& a, SourceLocation where) { return UnaryOp("MatrixDeterminant", a, where); }
Value Inv(const Value& a, bool adjoint, SourceLocation where) {
  return OpBuilder(a, where).Op("MatrixInverse", a, {{"adjoint", adjoint}});
}

Value DiagPart(const Value& a, SourceLocation where) {
  Operand padding(Literal::Scalar(a.ok() ? a.dtype() : proto::DT_FLOAT, 0), where);
  return OpBuilder(a, where).Op("MatrixDiagPartV3", {a, 0, padding}, {}, "diag_part");
}

Value Diag(const Value& diagonal, SourceLocation where) {
  Operand padding(Literal::Scalar(diagonal.ok() ? diagonal.dtype() : proto::DT_FLOAT, 0), where);
  return OpBuilder(diagonal, where).Op("MatrixDiagV3", {diagonal, 0, -1, -1, padding}, {}, "diag");
}

Value Trace(const Value& a, SourceLocation where) {
  OpBuilder make(a, where);
  auto scope = make.Scope("Trace");
  Value diagonal = DiagPart(a, where);
  return make.Exact("Sum", {diagonal, std::vector<int>{-1}}, {{"keep_dims", false}});
}

Value BandPart(const Value& a, int lower, int upper, SourceLocation where) {
  OpBuilder make(a, where);
  // The bounds are int32, although the op's default for them is int64.
  auto scope = make.Scope("MatrixBandPart");
  Value below = make.Scalar(lower, proto::DT_INT32, "num_lower");
  return make.Exact("MatrixBandPart", {a, below, make.Scalar(upper, proto::DT_INT32, "num_upper")});
}

Value MatrixTranspose(const Value& a, SourceLocation where) {
  OpBuilder make(a, where);
  if (!a.ok()) return a;
  if (!a.shape().known_rank() || a.shape().rank() < 2)
    return make.Fail("matrix_transpose: the shape is " + a.shape().ToString() +
                     ", a known rank of at least 2 was expected");
  auto scope = make.Scope("matrix_transpose");
  return Transpose(a, SwappedMatrix(a.shape().rank()), where);
}

Value Norm(const Value& x, const std::optional<int>& axis, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("norm");
  std::optional<Operand> axes;
  if (axis) axes = Operand(std::vector<int>{*axis}, where);
  Value squares = make.Scoped("Mul", {x, x}, {}, "mul");
  Value root = Sqrt(ReduceSum(squares, axes, /*keep_dims=*/true, where), where);
  return Squeeze(root, axis ? std::vector<int64_t>{*axis} : std::vector<int64_t>(), where);
}

}  // namespace grapnel
