// Reads expressions over tensors. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_

#include "lib/watch/expression_node.h"

namespace grapnel {

// As much of `text` as is an expression; see TensorExpression. `end`: where it ends, or where it
// cannot be read, of which the error says what was expected.
Expected<TensorExpression::Node> ParseExpression(llvm::StringRef text, size_t* end);
// What stands in a slice's brackets, with them: "[0, 1:]".
Expected<std::vector<SlicePart>> ParseSlice(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
