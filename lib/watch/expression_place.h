// Resolves the names in an expression to tensors of one body: the main graph or a function.
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
  std::vector<Port> ports;         // the tensor of each name
  bool is_in_loop = false;         // a tensor is in a loop of single nodes (Enter, Exit)
};

// Finds the body that has all tensors of the expression. The main graph is searched first, then
// functions, whose tensors are named "function/x:0", or "x:0" if only one function has them all.
// Errors: an unknown name, with the nearest known name; a node that lacks the output; names in
// different bodies, or all in several functions; an expression without names. `key`, which may be
// null, returns the tensor's name for a key of a signature, and any other name unchanged.
Expected<ExpressionPlace> PlaceOf(const TensorExpression& expression, const Module& module,
                                  const std::function<std::string(llvm::StringRef)>& key = nullptr);

// Returns `error` followed by two lines: the text that the user typed, and a caret under the column
// at which parsing failed.
Error CaretError(llvm::StringRef typed, size_t column, Error error);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PLACE_H_
