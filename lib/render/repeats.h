// Merges boxes of ops that differ only by name.
#ifndef GRAPNEL_LIB_RENDER_REPEATS_H_
#define GRAPNEL_LIB_RENDER_REPEATS_H_

#include <vector>

#include "lib/render/boxes.h"

namespace grapnel {

// Merges three or more sibling ops with the same text and device, and with the same edges to the
// same boxes, into the first of these boxes, and renumbers the boxes in `bodies` and in edges. Does
// not merge inputs, outputs, requested nodes, callers and readers of missing inputs, and does not
// change pictures of up to 20 boxes.
void FoldRepeats(std::vector<BodyBoxes>& bodies, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_REPEATS_H_
