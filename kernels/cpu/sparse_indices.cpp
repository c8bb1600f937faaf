#include "kernels/cpu/sparse_indices.h"

#include "kernels/cpu/data_move.h"

namespace grapnel {

Error CheckSparseTensor(const Tensor& indices, const Tensor* values, const Tensor& shape) {
  if (indices.rank() != 2)
    return MakeError("indices must be a matrix, not {0}", DimsText(indices.dims()));
  if (values && (values->rank() != 1 || values->dim(0) != indices.dim(0)))
    return MakeError("values must be a vector of {0}, not {1}", indices.dim(0),
                     DimsText(values->dims()));
  if (shape.rank() != 1 || shape.dim(0) != indices.dim(1))
    return MakeError("the shape must be a vector of {0}, not {1}", indices.dim(1),
                     DimsText(shape.dims()));
  return Error::success();
}

Error CheckSparseIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims, bool in_order) {
  int64_t depth = indices.dim(1);
  auto row = [&](int64_t i) {
    Dims values;
    for (int64_t d = 0; d < depth; ++d) values.push_back(indices.IntAt(i * depth + d));
    return values;
  };
  Dims before;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    Dims at = row(i);
    for (int64_t d = 0; d < depth; ++d) {
      if (at[d] < 0 || at[d] >= dims[d])
        return MakeError("indices[{0}] = {1} is out of bounds: need 0 <= index < {2}", i,
                         IntsText(at), DimsText(dims));
    }
    if (in_order && i > 0 && !(before < at))
      return MakeError("indices[{0}] = {1} is {2}", i, IntsText(at),
                       before == at ? "repeated" : "out of order");
    before = at;
  }
  return Error::success();
}

}  // namespace grapnel
