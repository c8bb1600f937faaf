// Sums of tensors of equal shape.
#ifndef GRAPNEL_KERNELS_CPU_MATH_ADDN_H_
#define GRAPNEL_KERNELS_CPU_MATH_ADDN_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// out[i] = a[i] + b[i] for n elements; `out` may be `a` or `b`.
using AddLoop = void (*)(const void* a, const void* b, void* out, int64_t n);
AddLoop AddLoopFor(DataType dtype);  // null: not a number type

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_ADDN_H_
