#include "kernels/cpu/sparse/sparse_indices.h"

#include <algorithm>
#include <numeric>

#include "kernels/common/dims.h"

namespace grapnel {

Error CheckSparseTensor(const Tensor& indices, const Tensor* values, const Tensor& shape) {
  if (indices.rank() != 2)
    return MakeError("indices must be a matrix, got shape {0}", DimsText(indices.dims()));
  if (values && (values->rank() != 1 || values->dim(0) != indices.dim(0)))
    return MakeError("values must be a vector of {0} elements, got shape {1}", indices.dim(0),
                     DimsText(values->dims()));
  if (shape.rank() != 1 || shape.dim(0) != indices.dim(1))
    return MakeError("the shape must be a vector of {0} elements, got shape {1}", indices.dim(1),
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

int CompareRows(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  int64_t depth = a.dim(1);
  const int64_t *left = a.data<int64_t>() + i * depth, *right = b.data<int64_t>() + j * depth;
  for (int64_t d = 0; d < depth; ++d) {
    if (left[d] != right[d]) return left[d] < right[d] ? -1 : 1;
  }
  return 0;
}

std::vector<int64_t> RowOrder(const Tensor& indices) {
  std::vector<int64_t> order(indices.dim(0));
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int64_t a, int64_t b) { return CompareRows(indices, a, indices, b) < 0; };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace grapnel
