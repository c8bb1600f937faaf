// What the kernels of TensorList ops share.
#ifndef GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_
#define GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_

#include "lib/exec/kernel.h"
#include "lib/exec/tensor_list.h"
#include "lib/shape/arithmetic.h"

namespace grapnel {

using TensorListRef = llvm::IntrusiveRefCntPtr<TensorList>;

// The list in input `i`, to read.
Expected<const TensorList*> ListIn(const KernelContext& ctx, int i);
// The same where its elements are of this dtype; else an error.
Expected<const TensorList*> ListOf(const KernelContext& ctx, int i, DataType dtype);
// That of ListIn() as output `out`, to change: the input's own if nobody else holds it, else a copy
// (of references; elements are never written to).
Expected<TensorList*> ListForWriting(KernelContext& ctx, int i, int out);
TensorList* NewList(KernelContext& ctx, int out, DataType dtype, Shape element_shape);

// The shape that an integer tensor stands for: -1 is an unknown size, the scalar -1 an unknown
// rank.
Expected<Shape> ElementShapeFrom(const Tensor& tensor);
bool Fits(llvm::ArrayRef<int64_t> dims, const Shape& shape);
Error CheckFits(const TensorList& list, const Tensor& item);

// What all that is known of the elements says of their shape: the list's own, `asked`, and what is
// there; for elements that were never set. An error when a size stays unknown.
Expected<Dims> ShapeOfUnset(const TensorList& list, const Shape& asked);

// Row `i` of the first dimension as a tensor of its own.
Expected<Tensor> RowOf(KernelContext& ctx, const Tensor& tensor, int64_t i);
Expected<Tensor> Zeros(KernelContext& ctx, DataType dtype, llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_TENSOR_LIST_H_
