// Statistics of tensors for the checks of `doctor`.
#ifndef GRAPNEL_LIB_DOCTOR_NUMBERS_H_
#define GRAPNEL_LIB_DOCTOR_NUMBERS_H_

#include <string>

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

// Returns the Euclidean norm of a - b; infinity if the dtypes or shapes of `a` and `b` differ.
// Elements that are not finite do not count, nor do complex numbers, strings and objects.
double DistanceOf(const Tensor& a, const Tensor& b);

// Returns a number with three significant digits: "0.00123", "1.2e+05".
std::string Short(double number);
std::string Percent(double share);  // "83 %"

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_NUMBERS_H_
