// Resolves the names of an expression to tensors of one body.
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
  std::vector<std::string> names;  // as written in the expression
  std::vector<Port> ports;         // of each name
  bool is_in_loop = false;         // has an Enter or an Exit for each iteration
};

// Finds the body that has all tensors of the expression. The main graph precedes functions, whose
// tensors are named "function/x:0", or without the function if only one function has the name.
// Errors: an unknown name, with the nearest known one; names of several bodies; an expression
// without names. `key` returns the tensor for a key of a signature, and other names unchanged; may
// be null.
Expected<ExpressionPlace> PlaceOf(const TensorExpression& expression, const Module& module,
                                  const std::function<std::string(llvm::StringRef)>& key = nullptr);

// Returns an error for unreadable input: the error, then a line with the input, and a line with a
// caret at the position where it becomes unreadable.
Error CaretError(llvm::StringRef typed, size_t column, Error error);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PLACE_H_
