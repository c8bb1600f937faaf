// What a graph's text says of its shapes, held against what is inferred.
#ifndef GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
#define GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_

#include "lib/ir/text.h"

namespace grapnel {

// A claim that no tensor of the inferred shape can meet becomes an error of the module, with its
// place. A dimension that either side leaves open fits. Infers shapes of the bodies that claim
// something, and of no other.
void CheckShapeClaims(llvm::ArrayRef<ShapeClaim> claims, Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
