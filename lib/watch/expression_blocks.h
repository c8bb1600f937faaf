// Evaluates expressions over large tensors in blocks of elements. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_

#include "lib/watch/expression_value.h"

namespace grapnel {

// Returns the result of reduction `name` over all elements of `part`, if BlockReduction has it and
// `part` is an elementwise expression over real tensors of one shape. Returns nullopt otherwise,
// for small tensors, and after errors: evaluate the expression as a whole then. Memory: a few
// thousand elements. Cost: 5 to 20 ns for each element and operation.
std::optional<NumberArray> ReducedInBlocks(llvm::StringRef name, const TensorExpression::Node& part,
                                           const TensorExpression::Lookup& lookup);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_
