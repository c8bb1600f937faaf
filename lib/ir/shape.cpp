#include "lib/ir/shape.h"

#include <algorithm>

namespace grapnel {

std::optional<int64_t> NumElements(llvm::ArrayRef<int64_t> dims) {
  // With a dimension of 0, the product is 0, even if that of the other dimensions overflows.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

std::string DimsText(llvm::ArrayRef<int64_t> dims) { return Shape(dims).ToString(); }

Shape Shape::FromProto(const proto::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return Unknown();
  Shape shape = Scalar();
  for (const auto& dim : proto.dim()) shape.Append(dim.size() < 0 ? kUnknownDim : dim.size());
  return shape;
}

proto::TensorShapeProto Shape::ToProto() const {
  proto::TensorShapeProto proto;
  proto.set_unknown_rank(!known_rank_);
  for (int64_t dim : dims_) proto.add_dim()->set_size(dim < 0 ? -1 : dim);
  return proto;
}

bool Shape::IsFullyKnown() const {
  return known_rank_ && std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d >= 0; });
}

std::optional<int64_t> Shape::NumElements() const {
  if (!IsFullyKnown()) return std::nullopt;
  return grapnel::NumElements(dims_);
}

std::string Shape::ToString() const {
  if (!known_rank_) return "?";
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) text += ",";
    if (dims_[i] >= 0) {
      text += std::to_string(dims_[i]);
    } else {
      text += dims_[i] == kUnknownDim ? "?" : "s" + std::to_string(-1 - dims_[i]);
    }
  }
  return text + "]";
}

}  // namespace grapnel
