// One box for several that a reader could tell apart by their names alone.
#ifndef GRAPNEL_LIB_RENDER_REPEATS_H_
#define GRAPNEL_LIB_RENDER_REPEATS_H_

#include <vector>

#include "lib/render/boxes.h"

namespace grapnel {

// Puts siblings of the same kind and words, with the same edges to the same boxes, into the first
// of them, and changes the numbers of boxes in `bodies` and in edges accordingly. Small pictures
// stay as they are.
void FoldRepeats(std::vector<BodyBoxes>& bodies, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_REPEATS_H_
