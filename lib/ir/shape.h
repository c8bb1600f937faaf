// Partially known shapes: the rank, some dimensions, and equality of unknown dimensions.
#ifndef GRAPNEL_LIB_IR_SHAPE_H_
#define GRAPNEL_LIB_IR_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lib/proto/tensor_shape.pb.h"
#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// Fully known dimensions, none negative.
using Dims = llvm::SmallVector<int64_t, 6>;

// Returns the product of `dims`: 1 for a scalar, and 0 if any dimension is 0. Otherwise nullopt if
// the product does not fit into int64_t or a dimension is negative.
GRAPNEL_PUBLIC std::optional<int64_t> NumElements(llvm::ArrayRef<int64_t> dims);

// Returns "[2,3]"; "[]" for a scalar.
GRAPNEL_PUBLIC std::string DimsText(llvm::ArrayRef<int64_t> dims);

// A dimension of a shape is one of three. A number >= 0 is a known size; kUnknownDim is an unknown
// size; a smaller number is a symbol: dimensions with the same symbol have the same unknown size.
// Shape inference (lib/shape/inference.h) assigns symbols.
constexpr int64_t kUnknownDim = -1;

class GRAPNEL_PUBLIC Shape {
 public:
  Shape() = default;  // unknown rank
  explicit Shape(llvm::ArrayRef<int64_t> dims)
      : known_rank_(true), dims_(dims.begin(), dims.end()) {}
  static Shape Unknown() { return Shape(); }
  static Shape UnknownOfRank(int rank) {
    return Shape(llvm::SmallVector<int64_t, 6>(rank, kUnknownDim));
  }
  static Shape Scalar() { return Shape(llvm::ArrayRef<int64_t>()); }
  static Shape FromProto(const proto::TensorShapeProto& proto);
  proto::TensorShapeProto ToProto() const;  // symbols are written as -1

  bool known_rank() const { return known_rank_; }
  int rank() const { return static_cast<int>(dims_.size()); }  // only if known_rank()
  int64_t dim(int i) const { return dims_[i]; }
  bool IsKnown(int i) const { return dims_[i] >= 0; }
  llvm::ArrayRef<int64_t> dims() const { return dims_; }
  void set_dim(int i, int64_t value) { dims_[i] = value; }
  void Append(int64_t dim) { dims_.push_back(dim); }

  bool IsFullyKnown() const;
  // Returns the number of elements if every dimension is known and the product fits into int64_t;
  // otherwise nullopt.
  std::optional<int64_t> NumElements() const;

  bool operator==(const Shape& other) const {
    return known_rank_ == other.known_rank_ && dims_ == other.dims_;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // Returns a text such as "[2,?,s1]", in which s1, s2, ... are symbols; "?" for a shape of unknown
  // rank.
  std::string ToString() const;

 private:
  bool known_rank_ = false;
  Dims dims_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SHAPE_H_
