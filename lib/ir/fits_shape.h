// Compares a shape with an expected shape.
#ifndef GRAPNEL_LIB_IR_FITS_SHAPE_H_
#define GRAPNEL_LIB_IR_FITS_SHAPE_H_

#include "lib/ir/shape.h"

namespace grapnel {

// True if a value of `shape` is acceptable as `wanted`: the rank of `wanted` is unknown, or both
// have the same rank, and the same size in each dimension that `wanted` knows. An unknown dimension
// of `shape` does not match a known one.
inline bool FitsShape(const Shape& shape, const Shape& wanted) {
  if (!wanted.known_rank()) return true;
  bool fits = shape.known_rank() && shape.rank() == wanted.rank();
  for (int i = 0; fits && i < wanted.rank(); ++i)
    fits = !wanted.IsKnown(i) || wanted.dim(i) == shape.dim(i);
  return fits;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FITS_SHAPE_H_
