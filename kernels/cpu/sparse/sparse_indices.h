// Checks of sparse tensors, given as indices [n, rank], values [n] and a shape [rank].
#ifndef GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_
#define GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// Checks that the dimensions of the three match; `values` may be null. Does not check the indices.
Error CheckSparseTensor(const Tensor& indices, const Tensor* values, const Tensor& shape);

// Checks that every row of `indices` lies within `dims` and, if `in_order`, that rows ascend
// strictly. The error names the first bad row.
Error CheckSparseIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims, bool in_order);

// Returns -1, 0 or 1: row `i` of index matrix `a` is before, equal to or after row `j` of `b`.
int CompareRows(const Tensor& a, int64_t i, const Tensor& b, int64_t j);

// Returns the permutation that sorts the rows, stably.
std::vector<int64_t> RowOrder(const Tensor& indices);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_SPARSE_SPARSE_INDICES_H_
