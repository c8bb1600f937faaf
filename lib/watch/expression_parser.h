// Parses expressions over tensors. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_

#include "lib/watch/expression_node.h"

namespace grapnel {

// Parses the longest expression at the beginning of `text`; see TensorExpression. `end` gets the
// end of the expression, or the position of the error. Most errors tell what was expected.
Expected<TensorExpression::Node> ParseExpression(llvm::StringRef text, size_t* end);
// Parses a slice with its brackets: "[0, 1:]".
Expected<std::vector<SlicePart>> ParseSlice(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_PARSER_H_
