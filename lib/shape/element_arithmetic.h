// Arithmetic on elements that may be unknown or symbols. Private to lib/shape.
#ifndef GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
#define GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

using ElementOp = int64_t (*)(int64_t, int64_t);

// What a binary op does to two elements: exact on known ones; a symbol survives what leaves it as
// it is; all else is kUnknownElement. Null: no op that is known here.
ElementOp ElementOpOf(llvm::StringRef op);

// a - b.
int64_t SubtractElements(int64_t a, int64_t b);

class ShapeContext;
// Of a Select or SelectV2 whose output has its shape: elements that are chosen each by itself, from
// values of as many or of one. False where they are not known. Grappler does not know them.
bool SelectEachElement(ShapeContext& c);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ELEMENT_ARITHMETIC_H_
