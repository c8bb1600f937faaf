// The values of subexpressions. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_

#include "lib/watch/expression_node.h"

namespace grapnel {

// The value of a subexpression: a tensor, or computed numbers. For a list, `is_any` is true at the
// positions of `?`.
struct ExpressionValue {
  Tensor tensor;  // empty: the value is in `numbers`
  NumberArray numbers;
  std::vector<bool> is_any;  // by element; empty: no element is `?`
};

Expected<NumberArray> NumbersOf(ExpressionValue value);
Expected<Tensor> TensorOf(ExpressionValue value);

// Returns a number of a list that a shape is compared with, clamped to the range of int64.
int64_t SizeOf(NumberArray::Number number);

// Returns the value of a literal: a number, a text or a list.
ExpressionValue ConstantOf(const TensorExpression::Node& node);
bool IsConstant(const TensorExpression::Node& node);

// Applies a function or an operator to the values of its operands. Errors: the operands do not fit
// in number, dtype, shape or value.
Expected<ExpressionValue> CallOn(const TensorExpression::Node& call,
                                 std::vector<ExpressionValue> arguments);

// Compares shapes. A negative number is an unknown size or `?`; returns nullopt if the result
// depends on one.
std::optional<bool> AreSameSizes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_
