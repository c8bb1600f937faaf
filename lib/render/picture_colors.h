// Assigns colors to a picture's boxes.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Gives each box of `bodies` its color, and the picture a legend of the used ones: from
// options.painting, else the most frequent categories of ops, devices or scopes. A box has a color
// if all nodes in it agree.
void ColorBoxes(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
