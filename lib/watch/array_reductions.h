// From the elements along an axis, or all of them, to one. Private to lib/watch.
#ifndef GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
#define GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_

#include <vector>

#include "lib/watch/expression_node.h"

namespace grapnel {

bool IsReduction(llvm::StringRef name);
std::vector<llvm::StringRef> ReductionNames();
// What the call of a reduction gives, with its axis. Errors: the numbers are complex; the axis is
// out of range; no elements, where one is asked for.
Expected<NumberArray> Reduce(const TensorExpression::Node& call, NumberArray array);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ARRAY_REDUCTIONS_H_
