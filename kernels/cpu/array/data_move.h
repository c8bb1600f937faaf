// Moves elements of any dtype, by size or as strings. Transpose, Slice, Concat, Pad, Tile and
// similar ops are strided copies.
#ifndef GRAPNEL_KERNELS_CPU_ARRAY_DATA_MOVE_H_
#define GRAPNEL_KERNELS_CPU_ARRAY_DATA_MOVE_H_

#include "kernels/common/dims.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Returns the bytes from one element to the next in a tensor's buffer, also for strings and
// objects.
size_t ElementSize(DataType dtype);

// to[sum of i_d * to_strides[d]] = from[sum of i_d * from_strides[d]] for all indices below
// `sizes`. Strides are in elements and may be negative (a reversed axis) or, in `from`, 0 (a
// repeated one). No element may be both read and written. Runs on several threads.
void CopyStrided(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> sizes,
                 const void* from, llvm::ArrayRef<int64_t> from_strides, void* to,
                 llvm::ArrayRef<int64_t> to_strides);

// Copies `n` adjacent elements, on this thread.
void CopyElements(DataType dtype, const void* from, void* to, int64_t n);

// Writes the element at `value` `n` times.
void FillElements(KernelContext& ctx, DataType dtype, void* to, int64_t n, const void* value);

inline const char* At(const Tensor& tensor, int64_t element) {
  return static_cast<const char*>(tensor.raw()) +
         element * static_cast<int64_t>(ElementSize(tensor.dtype()));
}
inline char* At(Tensor& tensor, int64_t element) {
  return static_cast<char*>(tensor.raw()) +
         element * static_cast<int64_t>(ElementSize(tensor.dtype()));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_ARRAY_DATA_MOVE_H_
