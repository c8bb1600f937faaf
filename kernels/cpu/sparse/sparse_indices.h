// Checks of sparse tensors, which come as indices [n, rank], values [n] and a shape [rank].
#ifndef GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_
#define GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// The three fit each other; `values` may be null. Nothing is said about the indices themselves.
Error CheckSparseTensor(const Tensor& indices, const Tensor* values, const Tensor& shape);

// Every row of `indices` lies inside of `dims`; when `in_order`, rows also rise strictly. The error
// names the first that does not.
Error CheckSparseIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims, bool in_order);

// -1, 0 or 1: row `i` of index matrix `a` comes before row `j` of `b`, is the same, comes after it.
int CompareRows(const Tensor& a, int64_t i, const Tensor& b, int64_t j);

// The order in which the rows rise; equal ones stay as they came.
std::vector<int64_t> RowOrder(const Tensor& indices);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_
