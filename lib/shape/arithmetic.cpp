#include "lib/shape/arithmetic.h"

#include <algorithm>

namespace grapnel {
namespace {

bool BothKnown(int64_t a, int64_t b) { return a >= 0 && b >= 0; }

}  // namespace

Shape JoinShapes(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return Shape::Unknown();
  Shape joined = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) joined.set_dim(i, kUnknownDim);
  }
  return joined;
}

std::optional<int64_t> MergeDims(int64_t a, int64_t b) {
  if (a >= 0) return b < 0 || a == b ? std::optional<int64_t>(a) : std::nullopt;
  return b >= 0 || a == kUnknownDim ? b : a;
}

std::optional<Shape> MergeShapes(const Shape& a, const Shape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  Shape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    std::optional<int64_t> dim = MergeDims(a.dim(i), b.dim(i));
    if (!dim) return std::nullopt;
    merged.set_dim(i, *dim);
  }
  return merged;
}

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return Shape::Unknown();
  if (a == b && a.IsFullyKnown()) return a;
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t x = longer.dim(offset + i), y = shorter.dim(i);
    if (x == y || y == 1) continue;
    if (x == 1) {
      result.set_dim(offset + i, y);
    } else if (BothKnown(x, y)) {
      return std::nullopt;
    } else {
      // At least one size is unknown: it is 1, or equals the other size. So if the other size is
      // known and not 1, it is the result.
      result.set_dim(offset + i, x >= 0 ? x : y >= 0 ? y : kUnknownDim);
    }
  }
  return result;
}

int64_t AddDims(int64_t a, int64_t b) {
  int64_t sum;
  if (BothKnown(a, b)) return __builtin_add_overflow(a, b, &sum) ? kUnknownDim : sum;
  return a == 0 ? b : b == 0 ? a : kUnknownDim;
}

int64_t SubDims(int64_t a, int64_t b) {
  if (BothKnown(a, b)) return a >= b ? a - b : kUnknownDim;
  if (b == 0) return a;
  return a == b && a != kUnknownDim ? 0 : kUnknownDim;
}

int64_t MulDims(int64_t a, int64_t b) {
  int64_t product;
  if (BothKnown(a, b)) return __builtin_mul_overflow(a, b, &product) ? kUnknownDim : product;
  if (a == 0 || b == 0) return 0;
  return a == 1 ? b : b == 1 ? a : kUnknownDim;
}

int64_t DivDims(int64_t a, int64_t b) {
  if (BothKnown(a, b)) return b == 0 ? kUnknownDim : a / b;
  return b == 1 ? a : kUnknownDim;
}

int64_t ProductOf(llvm::ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product = MulDims(product, dim);
  // A zero makes the product zero even if other factors are unknown.
  return std::find(dims.begin(), dims.end(), 0) != dims.end() ? 0 : product;
}

Shape ConcatShapes(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return Shape::Unknown();
  Shape result = a;
  for (int64_t dim : b.dims()) result.Append(dim);
  return result;
}

Shape SubShape(const Shape& shape, int begin, int end) {
  if (!shape.known_rank()) return Shape::Unknown();
  if (begin < 0) begin += shape.rank();
  if (end < 0) end += shape.rank();
  if (begin < 0 || end > shape.rank() || begin > end) return Shape::Unknown();
  return Shape(shape.dims().slice(begin, end - begin));
}

Shape SubShape(const Shape& shape, int begin) {
  return shape.known_rank() ? SubShape(shape, begin, shape.rank()) : Shape::Unknown();
}

}  // namespace grapnel
