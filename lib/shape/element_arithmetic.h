// Arithmetic on elements that may be unknown or symbols. Private to lib/shape.
#ifndef GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
#define GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

using ElementOp = int64_t (*)(int64_t, int64_t);

// Returns the function that a binary op applies to two elements: exact for known ones; a symbol
// survives if the op leaves it unchanged; otherwise kUnknownElement. Null for an op that is not
// supported.
ElementOp ElementOpOf(llvm::StringRef op);

// a - b.
int64_t SubtractElements(int64_t a, int64_t b);

class ShapeContext;
// For a Select or SelectV2 whose output has its shape: selects each element separately, from as
// many values or from one. Returns false if they are unknown. Grappler does not track them.
bool SelectEachElement(ShapeContext& c);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
