// Distances of tensors and texts of numbers, for the checks of `doctor`.
#ifndef GRAPNEL_LIB_DOCTOR_NUMBERS_H_
#define GRAPNEL_LIB_DOCTOR_NUMBERS_H_

#include <string>

#include "lib/exec/tensor.h"
#include "lib/watch/tensor_statistics.h"

namespace grapnel {

// Returns the Euclidean norm of a - b; infinity if the dtypes or shapes of `a` and `b` differ.
// Elements that are not finite do not count, nor do complex numbers, strings and objects.
double DistanceOf(const Tensor& a, const Tensor& b);

// Returns a number with three significant digits: "0.00123", "1.2e+05".
std::string Short(double number);
std::string Percent(double share);  // "83 %"

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_NUMBERS_H_
