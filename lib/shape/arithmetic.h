// Operations on partially known shapes: join, merge, broadcast, concatenate.
#ifndef GRAPNEL_LIB_SHAPE_ARITHMETIC_H_
#define GRAPNEL_LIB_SHAPE_ARITHMETIC_H_

#include <optional>

#include "lib/ir/shape.h"

namespace grapnel {

// Returns the shape of a tensor that has one of two shapes: dimensions in which these differ become
// unknown, and so does the rank if the ranks differ.
Shape JoinShapes(const Shape& a, const Shape& b);

// Return the more specific of two dimensions or shapes that are equal at run time; nullopt if they
// cannot be equal.
std::optional<int64_t> MergeDims(int64_t a, int64_t b);
std::optional<Shape> MergeShapes(const Shape& a, const Shape& b);
// Returns the shape of two tensors broadcast together; nullopt if they cannot be broadcast.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// Arithmetic on sizes that may be unknown or symbols. The result is a symbol only if the operation
// leaves that symbol unchanged, as adding 0 does; a known size if that follows for any size, as 0
// from x * 0 and from x - x of a symbol x; else unknown.
int64_t AddDims(int64_t a, int64_t b);
int64_t SubDims(int64_t a, int64_t b);
int64_t MulDims(int64_t a, int64_t b);
int64_t DivDims(int64_t a, int64_t b);  // rounded down; unknown if b is 0
int64_t ProductOf(llvm::ArrayRef<int64_t> dims);

inline Shape VectorOf(int64_t size) { return Shape(llvm::ArrayRef<int64_t>(size)); }
inline Shape MatrixOf(int64_t rows, int64_t columns) { return Shape(Dims{rows, columns}); }
// Returns a shape of unknown rank if `a` or `b` has unknown rank.
Shape ConcatShapes(const Shape& a, const Shape& b);
// Returns the dimensions from `begin` up to `end`, both counted from the back if negative. Returns
// Shape::Unknown() if the rank is unknown or too small, or `begin` is after `end`.
Shape SubShape(const Shape& shape, int begin, int end);
Shape SubShape(const Shape& shape, int begin);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ARITHMETIC_H_
