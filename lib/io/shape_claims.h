// Compares the shapes that a graph's text states with the inferred shapes.
#ifndef GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
#define GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_

#include "lib/ir/text.h"

namespace grapnel {

// Adds an error to the module for each shape stated in the text that no tensor of the inferred
// shape can have, with its position in the text. A dimension that is unknown in either shape
// matches any. Infers shapes only for bodies with stated shapes.
void CheckShapeClaims(llvm::ArrayRef<ShapeClaim> claims, Module* module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_SHAPE_CLAIMS_H_
