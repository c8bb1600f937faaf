// Expressions over large tensors, a block of elements at a time. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_
#define GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_

#include "lib/watch/expression_value.h"

namespace grapnel {

// What the reduction `name` gives of all elements of `part`, where that goes element by element
// over tensors of one shape, and numbers; else nullopt, as of small tensors and of what has an
// error. Memory: a few thousand elements. Cost: 5 to 20 ns an element and operation.
std::optional<NumberArray> ReducedInBlocks(llvm::StringRef name, const TensorExpression::Node& part,
                                           const TensorExpression::Lookup& lookup);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_EXPRESSION_BLOCKS_H_
