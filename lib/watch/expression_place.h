// Which tensors an expression's names are, in which body.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_PLACE_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_PLACE_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/watch/tensor_expression.h"

namespace grapnel {

struct ExpressionPlace {
  const Graph* body = nullptr;     // the main graph, or a function's body
  std::vector<std::string> names;  // as they stand in the expression
  std::vector<Port> ports;         // of each name
  bool is_in_loop = false;         // of Enter and Exit: one of them is made in each iteration
};

// The body that has all tensors of the expression: the main graph before functions, whose tensors
// are named "function/x:0", or by themselves where one function alone has them. Errors: a name that
// nothing has, with the nearest; names of several bodies; an expression without names. `key`: gives
// the tensor that a signature's key stands for, and other names as they are; may be null.
Expected<ExpressionPlace> PlaceOf(const TensorExpression& expression, const Module& module,
                                  const std::function<std::string(llvm::StringRef)>& key = nullptr);

// What a person typed cannot be read: the error, and below it a line with what was typed and one
// with a caret where it cannot be read on.
Error CaretError(llvm::StringRef typed, size_t column, Error error);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PLACE_H_
