#include "kernels/common/dims.h"

namespace grapnel {

Dims RowMajorStrides(llvm::ArrayRef<int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

Expected<int> AxisIn(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return MakeError("expected an axis in [{0}, {1}), got {2}", -rank, rank, axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims IntsOf(const Tensor& tensor) {
  Dims values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(tensor.IntAt(i));
  return values;
}

std::string IntsText(llvm::ArrayRef<int64_t> values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(values[i]);
  }
  text += ']';
  return text;
}

Expected<Dims> ShapeFrom(const Tensor& tensor) {
  if (tensor.rank() != 1)
    return MakeError("a shape must be a vector, got shape {0}", DimsText(tensor.dims()));
  Dims dims = IntsOf(tensor);
  for (int64_t dim : dims) {
    if (dim < 0) return MakeError("a shape must not have negative sizes, got {0}", IntsText(dims));
  }
  if (!NumElements(dims))
    return MakeError("a tensor of shape {0} is larger than memory", DimsText(dims));
  return dims;
}

}  // namespace grapnel
