// Colors boxes by numbers from a file, and writes the numbers into them.
#ifndef GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
#define GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Gives each box a note and a color for its number from options.numbers: the number of its node, or
// the aggregate of several nodes. A folded node counts in the box of its nearest reader, but not if
// that is an op with a number. Colors range from the smallest to the largest number of a node; for
// sums and counts, from 0 (or the smallest number of a box, if that is negative) to the largest
// number of a box.
void ColorByNumbers(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NUMBER_COLORS_H_
