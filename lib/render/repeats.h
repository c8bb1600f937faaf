// Merges boxes that differ only by name.
#ifndef GRAPNEL_LIB_RENDER_REPEATS_H_
#define GRAPNEL_LIB_RENDER_REPEATS_H_

#include <vector>

#include "lib/render/boxes.h"

namespace grapnel {

// Merges siblings of the same kind and text, with the same edges to the same boxes, into the first
// of them, and renumbers the boxes in `bodies` and in edges. Small pictures are not changed.
void FoldRepeats(std::vector<BodyBoxes>& bodies, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_REPEATS_H_
