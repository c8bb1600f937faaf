// Shapes that are not known in full: joined, merged, broadcast, put together.
#ifndef GRAPNEL_LIB_SHAPE_ARITHMETIC_H_
#define GRAPNEL_LIB_SHAPE_ARITHMETIC_H_

#include <optional>

#include "lib/ir/shape.h"

namespace grapnel {

// The shape of a tensor that has one of the two: dimensions on which they do not agree become
// unknown.
Shape JoinShapes(const Shape& a, const Shape& b);

// Of two dimensions that are equal, the better known; nullopt when they cannot be equal. Likewise
// of shapes.
std::optional<int64_t> MergeDims(int64_t a, int64_t b);
std::optional<Shape> MergeShapes(const Shape& a, const Shape& b);
// nullopt when they cannot be broadcast together.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// Sizes that may be unknown or symbols. A symbol outlives only what leaves it as it is.
int64_t AddDims(int64_t a, int64_t b);
int64_t SubDims(int64_t a, int64_t b);
int64_t MulDims(int64_t a, int64_t b);
int64_t DivDims(int64_t a, int64_t b);  // rounded down
int64_t ProductOf(llvm::ArrayRef<int64_t> dims);

inline Shape VectorOf(int64_t size) { return Shape(llvm::ArrayRef<int64_t>(size)); }
inline Shape MatrixOf(int64_t rows, int64_t columns) { return Shape(Dims{rows, columns}); }
// Unknown when a part is.
Shape ConcatShapes(const Shape& a, const Shape& b);
// Dimensions from `begin` up to `end`, both counted from the back when negative; the rank must
// allow it.
Shape SubShape(const Shape& shape, int begin, int end);
Shape SubShape(const Shape& shape, int begin);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ARITHMETIC_H_
