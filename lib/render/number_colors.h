// Colors boxes by numbers from a file, and writes the numbers into them.
#ifndef GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
#define GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Uses options.numbers: the number of a box's node, or the aggregate for several nodes, becomes a
// note and a color. A folded node counts in the box of its first reader. Colors run from the
// smallest to the largest number of a node; for sums and counts from 0 to the largest box.
void ColorByNumbers(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
