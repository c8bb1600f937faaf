// Shared code of ops with indices: checks all indices before anything is copied, and names the
// first invalid one in the error.
#ifndef GRAPNEL_KERNELS_COMMON_INDICES_H_
#define GRAPNEL_KERNELS_COMMON_INDICES_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Returns "[1,3]" for element `flat` of a tensor with these dims; "" for a scalar.
std::string PositionText(llvm::ArrayRef<int64_t> dims, int64_t flat);

// Fails with "indices[3] = 17 is not in [0, 10)" for the first index outside [0, limit).
Error CheckIndices(const Tensor& indices, int64_t limit);

// Stores `value` at element `i` of an int32 or int64 output.
inline void PutIndex(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == proto::DT_INT64)
    out.data<int64_t>()[i] = value;
  else
    out.data<int32_t>()[i] = static_cast<int32_t>(value);
}

// The indices of GatherNd, ScatterNd and similar ops: each row of the last dimension selects a
// slice of a tensor of shape `dims`. `at` holds the slices' offsets in elements. If rows are out of
// range, the error of ReadSliceIndices() names the first of these rows.
struct SliceOffsets {
  std::vector<int64_t> at;
  int64_t length = 1;  // elements of a slice
  Dims batch;          // dims of `indices` without the last
  Dims slice;          // dims of a slice
};
Expected<SliceOffsets> ReadSliceIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_INDICES_H_
