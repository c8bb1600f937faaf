// Helpers for dimensions, axes and sizes, including those that kernels receive as tensors.
#ifndef GRAPNEL_KERNELS_COMMON_DIMS_H_
#define GRAPNEL_KERNELS_COMMON_DIMS_H_

#include <string>

#include "lib/exec/kernel.h"

namespace grapnel {

// Returns the strides, in elements, of a dense row-major tensor.
Dims RowMajorStrides(llvm::ArrayRef<int64_t> dims);

// Resolves `axis` for an input of this rank; -1 is the last axis. The error names the expected
// range.
Expected<int> AxisIn(int64_t axis, int rank);

// Returns the elements of an integer tensor, in order: a shape, axes or sizes.
Dims IntsOf(const Tensor& tensor);

// Formats numbers that the user wrote, "[2,-1]". DimsText() would print negative ones as unknown
// dimensions.
std::string IntsText(llvm::ArrayRef<int64_t> values);

// Returns IntsOf(tensor) as the dimensions of a new tensor. Errors: `tensor` is not a vector, a
// size is negative, or the number of elements overflows.
Expected<Dims> ShapeFrom(const Tensor& tensor);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_DIMS_H_
