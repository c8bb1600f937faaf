// Compares the shapes that a graph's text claims with the inferred ones.
#ifndef GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
#define GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_

#include "lib/ir/text.h"

namespace grapnel {

// Adds an error with its position to the module for each claim that no tensor of the inferred shape
// can meet. A dimension that either side leaves unknown matches. Infers shapes only for bodies with
// claims.
void CheckShapeClaims(llvm::ArrayRef<ShapeClaim> claims, Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
