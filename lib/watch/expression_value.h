// What parts of an expression come to. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_

#include "lib/watch/expression_node.h"

namespace grapnel {

// A tensor as it is, or numbers that were computed; of a list with `?` in it the places of those.
struct ExpressionValue {
  Tensor tensor;  // none: `numbers`
  NumberArray numbers;
  std::vector<bool> is_any;  // empty: no element is `?`
};

Expected<NumberArray> NumbersOf(ExpressionValue value);
Expected<Tensor> TensorOf(ExpressionValue value);

// A number, a text or a list.
ExpressionValue ConstantOf(const TensorExpression::Node& node);
bool IsConstant(const TensorExpression::Node& node);

// A function or an operator on what its operands come to. Errors: their number or dtypes do not
// fit.
Expected<ExpressionValue> CallOn(const TensorExpression::Node& call,
                                 std::vector<ExpressionValue> arguments);

// Numbers that are compared as shapes, where a negative one is a size that is not known, or `?`:
// nullopt where that decides.
std::optional<bool> AreSameSizes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_VALUE_H_
