// Statistics of the numbers of a tensor.
#ifndef GRAPNEL_LIB_WATCH_TENSOR_STATISTICS_H_
#define GRAPNEL_LIB_WATCH_TENSOR_STATISTICS_H_

#include "lib/exec/tensor.h"
#include "lib/ir/number_statistics.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Returns the statistics of a tensor in host memory, in one pass over its elements; empty if the
// dtype is neither real nor bool.
NumberStatistics StatisticsOf(const Tensor& tensor);

// Calls `visit` with every element, in order, converted to double; not for complex numbers, strings
// and objects.
void ForEachNumber(const Tensor& tensor, llvm::function_ref<void(double)> visit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_STATISTICS_H_
