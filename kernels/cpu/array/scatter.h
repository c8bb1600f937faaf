// Writes slices of a tensor by index: for ScatterNd and related ops, and for variables.
#ifndef GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_
#define GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_

#include "lib/exec/tensor.h"
#include "lib/support/error.h"

namespace grapnel {

enum class Combine { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

// Writes slice k of `updates` at the position in row k of `indices` (its last dimension). Slices
// are written in order: for duplicate positions the later one wins or is combined. With `repeat`,
// `updates` may be a scalar that stands for every element. If rows of `indices` are out of range,
// the error names the first of them.
Error ScatterSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out,
                    bool repeat = false);

// ScatterSlices with the additional checks of ScatterNd and related ops, as in TensorFlow. Also
// fails for a scalar among the three tensors; for an empty tensor among them, unless both `indices`
// and `updates` are empty; for a vector of indices, unless it is empty and the output has no rows;
// for rows of length 0, unless the output has no elements.
Error ScatterNdSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_
