// Shared code of the kernels of TensorList ops.
#ifndef GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_
#define GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_

#include "lib/exec/kernel.h"
#include "lib/exec/tensor_list.h"
#include "lib/shape/arithmetic.h"

namespace grapnel {

using TensorListRef = llvm::IntrusiveRefCntPtr<TensorList>;

// Returns the list in input `i`, to read.
Expected<const TensorList*> ListIn(const KernelContext& ctx, int i);
// ListIn(), with an error unless the elements have this dtype.
Expected<const TensorList*> ListOf(const KernelContext& ctx, int i, DataType dtype);
// Returns ListIn() as output `out`, to modify: the input itself if nothing else refers to it, else
// a copy (of references; elements are never modified).
Expected<TensorList*> ListForWriting(KernelContext& ctx, int i, int out);
TensorList* NewList(KernelContext& ctx, int out, DataType dtype, Shape element_shape);

// Returns the shape in an integer tensor: -1 is an unknown size, the scalar -1 an unknown rank.
Expected<Shape> ElementShapeFrom(const Tensor& tensor);
bool Fits(llvm::ArrayRef<int64_t> dims, const Shape& shape);
Error CheckFits(const TensorList& list, const Tensor& item);

// Returns the shape of elements that were never set, merged from the list's own shape, `asked` and,
// while a size is unknown, the existing elements. An error when these do not match, or when a size
// remains unknown.
Expected<Dims> ShapeOfUnset(const TensorList& list, const Shape& asked);

// Returns row `i` of the first dimension as a tensor: a part of the same memory if that is aligned,
// else a copy.
Expected<Tensor> RowOf(KernelContext& ctx, const Tensor& tensor, int64_t i);
Expected<Tensor> Zeros(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_
