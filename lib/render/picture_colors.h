// What the fills of a picture's boxes mean.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Gives each box of `bodies` its color, and the picture the legend of those in use: what
// options.painting says, else the most frequent groups of ops, devices or scopes. A box has a
// color when all nodes in it agree.
void ColorBoxes(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
