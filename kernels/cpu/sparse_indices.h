// Checks of sparse tensors, which come as indices [n, rank], values [n] and a shape [rank].
#ifndef GRAPNEL_KERNELS_CPU_SPARSE_INDICES_H_
#define GRAPNEL_KERNELS_CPU_SPARSE_INDICES_H_

#include "lib/exec/tensor.h"

namespace grapnel {

// The three fit each other; `values` may be null. Nothing is said about the indices themselves.
Error CheckSparseTensor(const Tensor& indices, const Tensor* values, const Tensor& shape);

// Every row of `indices` lies inside of `dims`; when `in_order`, rows also rise strictly. The error
// names the first that does not.
Error CheckSparseIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims, bool in_order);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_SPARSE_INDICES_H_
