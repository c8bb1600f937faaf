// Whether a shape may be where another was expected.
#ifndef GRAPNEL_LIB_IR_FITS_SHAPE_H_
#define GRAPNEL_LIB_IR_FITS_SHAPE_H_

#include "lib/ir/shape.h"

namespace grapnel {

// Whether a value of `shape` may be one of `wanted`: of its rank, and of its sizes where these are
// known. A size of `shape` that is not known fits none that is.
inline bool FitsShape(const Shape& shape, const Shape& wanted) {
  if (!wanted.known_rank()) return true;
  bool fits = shape.known_rank() && shape.rank() == wanted.rank();
  for (int i = 0; fits && i < wanted.rank(); ++i)
    fits = !wanted.IsKnown(i) || wanted.dim(i) == shape.dim(i);
  return fits;
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FITS_SHAPE_H_
