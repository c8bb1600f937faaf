// Moves elements without knowing what they are: by size, or as strings. Transpose, Slice, Concat,
// Pad, Tile and their like are one strided copy each.
#ifndef GRAPNEL_KERNELS_CPU_DATA_MOVE_H_
#define GRAPNEL_KERNELS_CPU_DATA_MOVE_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// Bytes from one element to the next in a tensor's buffer: also of strings and objects.
size_t ElementSize(DataType dtype);

// Strides, in elements, of a dense row-major tensor.
Dims RowMajorStrides(llvm::ArrayRef<int64_t> dims);

// to[sum of i_d * to_strides[d]] = from[sum of i_d * from_strides[d]] for all indices below
// `sizes`. Strides count elements, may be negative (a reversed axis) and, in `from`, 0 (a repeated
// one). The two do not overlap. Splits itself over threads.
void CopyStrided(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> sizes,
                 const void* from, llvm::ArrayRef<int64_t> from_strides, void* to,
                 llvm::ArrayRef<int64_t> to_strides);

// `n` elements that lie one after the other, on this thread.
void CopyElements(DataType dtype, const void* from, void* to, int64_t n);

// `n` times the element at `value`.
void FillElements(KernelContext& ctx, DataType dtype, void* to, int64_t n, const void* value);

inline const char* At(const Tensor& tensor, int64_t element) {
  return static_cast<const char*>(tensor.raw()) +
         element * static_cast<int64_t>(ElementSize(tensor.dtype()));
}
inline char* At(Tensor& tensor, int64_t element) {
  return static_cast<char*>(tensor.raw()) +
         element * static_cast<int64_t>(ElementSize(tensor.dtype()));
}

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

#endif  // GRAPNEL_KERNELS_CPU_DATA_MOVE_H_
