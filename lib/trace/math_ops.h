// Element-wise math, reductions, segments, clipping and linear algebra. Each function makes the
// nodes that its counterpart in TensorFlow's Python API makes, with the same names. lib/trace/ops.h
// has the operators, the plain reductions, Abs, Exp, Log, Sqrt, Square, Tanh, Sigmoid, MatMul.
#ifndef GRAPNEL_LIB_TRACE_MATH_OPS_H_
#define GRAPNEL_LIB_TRACE_MATH_OPS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

GRAPNEL_PUBLIC Value Sin(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Cos(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Tan(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Erf(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Erfc(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Floor(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Ceil(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Round(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Sign(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Rsqrt(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Log1p(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Expm1(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value IsFinite(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value IsNan(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LogicalNot(const Value& x, SourceLocation where = SourceLocation());
// These functions, except DivideNoNan, name their nodes after the op, unlike operators: tf.add
// makes a node Add, x + y makes a node add.
GRAPNEL_PUBLIC Value Atan2(const Operand& y, const Operand& x,
                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Power(const Operand& x, const Operand& y,
                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LogicalAnd(const Value& x, const Value& y,
                                SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value LogicalOr(const Value& x, const Value& y,
                               SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Equal(const Operand& x, const Operand& y,
                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value NotEqual(const Operand& x, const Operand& y,
                              SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SquaredDifference(const Operand& x, const Operand& y,
                                       SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value DivideNoNan(const Operand& x, const Operand& y,
                                 SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value AddN(const Values& values, SourceLocation where = SourceLocation());

// ReduceLogSumExp is log(sum(exp(x))) without overflow; ReduceStd and ReduceVariance divide by the
// number of elements n, not by n - 1.
GRAPNEL_PUBLIC Value ReduceLogSumExp(const Value& x, const std::optional<Operand>& axis = {},
                                     bool keep_dims = false,
                                     SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceStd(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceVariance(const Value& x, const std::optional<Operand>& axis = {},
                                    bool keep_dims = false,
                                    SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ArgMax(const Value& x, int axis = 0, DataType dtype = proto::DT_INT64,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ArgMin(const Value& x, int axis = 0, DataType dtype = proto::DT_INT64,
                            SourceLocation where = SourceLocation());
struct GRAPNEL_PUBLIC TopKResult {
  Value values, indices;
};
// The k largest elements along the last dimension, largest first.
GRAPNEL_PUBLIC TopKResult TopK(const Value& x, const Operand& k,
                               SourceLocation where = SourceLocation());
// Sorts along the last dimension.
GRAPNEL_PUBLIC Value Sort(const Value& x, bool descending = false,
                          SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ArgSort(const Value& x, bool descending = false,
                             SourceLocation where = SourceLocation());
struct GRAPNEL_PUBLIC CumulativeOptions {
  bool exclusive = false, reverse = false;
};
GRAPNEL_PUBLIC Value Cumsum(const Value& x, int axis = 0, const CumulativeOptions& options = {},
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Cumprod(const Value& x, int axis = 0, const CumulativeOptions& options = {},
                             SourceLocation where = SourceLocation());

// `segments` has one number per row, sorted and not negative. The unsorted variants take numbers in
// any order, drop rows with a negative one, and need the number of segments.
GRAPNEL_PUBLIC Value SegmentSum(const Value& x, const Operand& segments,
                                SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SegmentMean(const Value& x, const Operand& segments,
                                 SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SegmentMax(const Value& x, const Operand& segments,
                                SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SegmentMin(const Value& x, const Operand& segments,
                                SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value UnsortedSegmentSum(const Value& x, const Operand& segments,
                                        const Operand& count,
                                        SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value UnsortedSegmentMax(const Value& x, const Operand& segments,
                                        const Operand& count,
                                        SourceLocation where = SourceLocation());

// ClipByValue clips the elements to the bounds; ClipByNorm scales the tensor down to a Euclidean
// norm of at most `norm`.
GRAPNEL_PUBLIC Value ClipByValue(const Value& x, const Operand& low, const Operand& high,
                                 SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ClipByNorm(const Value& x, const Operand& norm,
                                SourceLocation where = SourceLocation());

// In the linear algebra functions, the last two dimensions of a tensor are those of a matrix.
GRAPNEL_PUBLIC Value Einsum(llvm::StringRef equation, const Values& values,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value MatVec(const Value& a, const Value& x,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Solve(const Value& a, const Value& b, bool adjoint = false,
                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Cholesky(const Value& a, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Det(const Value& a, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Inv(const Value& a, bool adjoint = false,
                         SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Trace(const Value& a, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value DiagPart(const Value& a, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Diag(const Value& diagonal, SourceLocation where = SourceLocation());
// `lower` and `upper` are the numbers of subdiagonals and superdiagonals to keep; -1 keeps all.
GRAPNEL_PUBLIC Value BandPart(const Value& a, int lower, int upper,
                              SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value MatrixTranspose(const Value& a, SourceLocation where = SourceLocation());
// Returns the Euclidean norm of all elements, or the norms along `axis`.
GRAPNEL_PUBLIC Value Norm(const Value& x, const std::optional<int>& axis = {},
                          SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_MATH_OPS_H_
