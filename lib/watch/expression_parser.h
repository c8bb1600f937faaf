// Reads expressions over tensors. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_

#include "lib/watch/expression_node.h"

namespace grapnel {

// The whole text; see TensorExpression.
Expected<TensorExpression::Node> ParseExpression(llvm::StringRef text);
// What stands in a slice's brackets, with them: "[0, 1:]".
Expected<std::vector<SlicePart>> ParseSlice(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
