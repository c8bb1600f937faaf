// Compares the shapes that a graph's text states with the inferred shapes.
#ifndef GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
#define GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_

#include "lib/ir/text.h"

namespace grapnel {

// Adds an error with its position to the module for each stated shape that no tensor of the
// inferred shape can have. A dimension that is unknown on either side matches. Infers shapes only
// for bodies with stated shapes.
void CheckShapeClaims(llvm::ArrayRef<ShapeClaim> claims, Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
