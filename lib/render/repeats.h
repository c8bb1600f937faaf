// Merges boxes that differ only by name.
#ifndef GRAPNEL_LIB_RENDER_REPEATS_H_
#define GRAPNEL_LIB_RENDER_REPEATS_H_

#include <vector>

#include "lib/render/boxes.h"

namespace grapnel {

// Merges sibling boxes of the same kind and text, with the same edges to the same boxes, into the
// first of these boxes, and renumbers the boxes in `bodies` and in edges. Does not change small
// pictures.
void FoldRepeats(std::vector<BodyBoxes>& bodies, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_REPEATS_H_
