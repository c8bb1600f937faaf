// Functions for common ops. Each makes the nodes that its counterpart in TensorFlow's Python API
// makes, with the same names; Tracer::Op makes all other ops. Shapes, sizes and ranks that are
// known while tracing become constants, as in TensorFlow.
#ifndef GRAPNEL_LIB_TRACE_OPS_H_
#define GRAPNEL_LIB_TRACE_OPS_H_

#include <optional>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// tf.cast. Returns `x` itself if `x` already has that dtype.
GRAPNEL_PUBLIC Value Cast(const Value& x, DataType dtype, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Identity(const Value& x, llvm::StringRef name = {},
                              SourceLocation where = SourceLocation());

// tf.size, tf.rank, tf.shape: int32.
GRAPNEL_PUBLIC Value Size(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Rank(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ShapeOf(const Value& x, SourceLocation where = SourceLocation());

// tf.reduce_*: over `axis` (a number, a vector of numbers, or a Value), or over all axes.
GRAPNEL_PUBLIC Value ReduceSum(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceMin(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceMax(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceMean(const Value& x, const std::optional<Operand>& axis = {},
                                bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceProd(const Value& x, const std::optional<Operand>& axis = {},
                                bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceAll(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ReduceAny(const Value& x, const std::optional<Operand>& axis = {},
                               bool keep_dims = false, SourceLocation where = SourceLocation());

GRAPNEL_PUBLIC Value Abs(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Exp(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Log(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Sqrt(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Square(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Tanh(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Sigmoid(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Relu(const Value& x, SourceLocation where = SourceLocation());

// Python's `x @ y` for matrices and batches of matrices, with tf.matmul's flags.
GRAPNEL_PUBLIC Value MatMul(const Value& x, const Value& y, bool transpose_x = false,
                            bool transpose_y = false, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Reshape(const Value& x, const Operand& shape);
// tf.concat and tf.stack, of at least one value; all values have one dtype.
GRAPNEL_PUBLIC Value Concat(const Values& values, int axis,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Stack(const Values& values, int axis = 0,
                           SourceLocation where = SourceLocation());
// tf.where: element by element, `x` if `cond` is true, else `y`.
GRAPNEL_PUBLIC Value Select(const Value& cond, const Operand& x, const Operand& y);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_OPS_H_
