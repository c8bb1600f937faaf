// Dimensions, axes and sizes that kernels are given as tensors.
#ifndef GRAPNEL_KERNELS_COMMON_DIMS_H_
#define GRAPNEL_KERNELS_COMMON_DIMS_H_

#include <string>

#include "lib/exec/kernel.h"

namespace grapnel {

// Strides, in elements, of a dense row-major tensor.
Dims RowMajorStrides(llvm::ArrayRef<int64_t> dims);

// `axis` of an input of this rank with -1 for the last; the error names what was expected.
Expected<int> AxisIn(int64_t axis, int rank);

// The elements of an integer tensor, in order: a shape, axes, sizes.
Dims IntsOf(const Tensor& tensor);

// "[2,-1]": numbers that a user wrote, where DimsText() would read negative ones as unknown
// dimensions.
std::string IntsText(llvm::ArrayRef<int64_t> values);

// IntsOf() as dimensions of a result: a vector, none of it negative, their product a size that can
// be.
Expected<Dims> ShapeFrom(const Tensor& tensor);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_DIMS_H_
