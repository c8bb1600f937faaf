// Boxes colored by numbers of a file, which are written in them.
#ifndef GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
#define GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// By options.numbers: each box has the number of its node, or of several the aggregate, as a note
// and as its color. Nodes that are folded count where they are read first. Colors go from the
// least to the largest number of a node; for sums and counts from 0 to what the largest box has.
void ColorByNumbers(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
