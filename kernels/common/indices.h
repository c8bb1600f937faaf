// What ops with indices share: checking them before anything is copied, and saying which one is
// wrong.
#ifndef GRAPNEL_KERNELS_COMMON_INDICES_H_
#define GRAPNEL_KERNELS_COMMON_INDICES_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// "[1,3]": element `flat` of a tensor with these dims; "" for a scalar.
std::string PositionText(llvm::ArrayRef<int64_t> dims, int64_t flat);

// "indices[3] = 17 is not in [0, 10)" for the first index outside of [0, limit).
Error CheckIndices(const Tensor& indices, int64_t limit);

// Element `i` of an integer output of either size.
inline void PutIndex(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == proto::DT_INT64)
    out.data<int64_t>()[i] = value;
  else
    out.data<int32_t>()[i] = static_cast<int32_t>(value);
}

// Indices of GatherNd and ScatterNd: each row of the last dimension names a slice of a tensor of
// shape `dims`. The slices' offsets in elements; the error names the first row that is outside.
struct SliceOffsets {
  std::vector<int64_t> at;
  int64_t length = 1;  // elements of a slice
  Dims batch;          // indices' dims but the last
  Dims slice;          // dims of a slice
};
Expected<SliceOffsets> ReadSliceIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_INDICES_H_
