// The subscripts of StridedSlice and of the ops that assign to such a slice: which elements x[1:,
// ..., None, ::-1, 3] selects.
#ifndef GRAPNEL_KERNELS_COMMON_SLICE_SPEC_H_
#define GRAPNEL_KERNELS_COMMON_SLICE_SPEC_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// A sub-box of a tensor: `begin + i * stride` for i < size in each dimension.
struct SliceBox {
  Dims begin, size, stride;

  // The offset of the first element, and the distances between elements in each dimension, in a
  // row-major tensor of shape `dims`.
  int64_t Start(llvm::ArrayRef<int64_t> dims) const;
  Dims Steps(llvm::ArrayRef<int64_t> dims) const;
};

// One mask per field; bit i of a mask applies to subscript i.
struct SliceMasks {
  uint64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};
Expected<SliceMasks> SliceMasksOf(const Node& node);

struct SliceSpec {
  SliceBox box;  // one entry per dimension of the sliced tensor
  Dims dims;     // of the result
};
// Resolves the subscripts for a tensor of shape `in`. Fails if they are invalid or do not fit it.
Expected<SliceSpec> ReadSliceSpec(llvm::ArrayRef<int64_t> in, const Tensor& begin,
                                  const Tensor& end, const Tensor& strides,
                                  const SliceMasks& masks);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_SLICE_SPEC_H_
