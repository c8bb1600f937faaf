// Slices of a tensor that are written by number: by ScatterNd and its relatives, and into
// variables.
#ifndef GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_
#define GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_

#include "lib/exec/tensor.h"
#include "lib/support/error.h"

namespace grapnel {

enum class Combine { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

// Slice k of `updates` goes where row k of `indices` (its last dimension) says. One after the
// other: of two that meet, the later one wins or is combined. `updates` may be a scalar if
// `repeat`, and then stands for every slice. Errors name the index that is outside.
Error ScatterSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out,
                    bool repeat = false);

// ScatterSlices with what ScatterNd and its relatives refuse: scalars, a vector of indices and rows
// of none, both of which TensorFlow has for outputs without elements alone, and elements in some of
// the three where others have none.
Error ScatterNdSlices(const Tensor& indices, const Tensor& updates, Combine how, Tensor& out);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_ARRAY_SCATTER_H_
