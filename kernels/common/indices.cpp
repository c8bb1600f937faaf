#include "kernels/common/indices.h"

#include "kernels/common/dims.h"

namespace grapnel {

std::string PositionText(llvm::ArrayRef<int64_t> dims, int64_t flat) {
  if (dims.empty()) return "";
  Dims position(dims.size(), 0);
  for (size_t d = dims.size(); d-- > 0; flat /= std::max<int64_t>(dims[d], 1)) {
    position[d] = flat % std::max<int64_t>(dims[d], 1);
  }
  return DimsText(position);
}

Error CheckIndices(const Tensor& indices, int64_t limit) {
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    int64_t index = indices.IntAt(i);
    if (index < 0 || index >= limit) {
      return MakeError("indices{0} = {1} is not in [0, {2})", PositionText(indices.dims(), i),
                       index, limit);
    }
  }
  return Error::success();
}

Expected<SliceOffsets> ReadSliceIndices(const Tensor& indices, llvm::ArrayRef<int64_t> dims) {
  if (indices.rank() < 1) return MakeError("indices must be at least a vector, got a scalar");
  int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > static_cast<int64_t>(dims.size())) {
    return MakeError("the last dimension of indices is {0}, but the tensor has {1} dimensions",
                     depth, dims.size());
  }
  SliceOffsets result;
  result.batch.assign(indices.dims().begin(), indices.dims().end() - 1);
  result.slice.assign(dims.begin() + depth, dims.end());
  for (int64_t dim : result.slice) result.length *= dim;
  Dims strides = RowMajorStrides(dims);
  int64_t rows = NumElements(result.batch).value_or(0);
  result.at.resize(rows);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      int64_t index = indices.IntAt(row * depth + k);
      if (index < 0 || index >= dims[k]) {
        Dims whole;
        for (int64_t j = 0; j < depth; ++j) whole.push_back(indices.IntAt(row * depth + j));
        return MakeError("indices{0} = {1} does not index into shape {2}",
                         PositionText(result.batch, row), IntsText(whole), DimsText(dims));
      }
      at += index * strides[k];
    }
    result.at[row] = at;
  }
  return result;
}

}  // namespace grapnel
