// Arithmetic on elements that may be unknown or symbols. Private to lib/shape.
#ifndef GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
#define GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

using ElementOp = int64_t (*)(int64_t, int64_t);

// Returns the function that a binary op applies to two elements. Its result is known if both
// elements are, or if the others do not matter (x - x, x * 0); a symbol if the op leaves that
// symbol unchanged; and otherwise kUnknownElement, also for an overflow or a division by 0. Null
// for an op that is not supported.
ElementOp ElementOpOf(llvm::StringRef op);

// Returns a - b.
int64_t SubtractElements(int64_t a, int64_t b);

class ShapeContext;
// Sets the elements of a Select or SelectV2 whose output shape is set already, selecting each
// element separately; each input has as many elements as the output, or one. Returns false if the
// output is not a scalar or a vector of known size, or the inputs do not have these elements.
// Grappler does not track such elements.
bool SelectEachElement(ShapeContext& c);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
