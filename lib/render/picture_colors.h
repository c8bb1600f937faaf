// Assigns colors to a picture's boxes.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_

#include "lib/render/boxes.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Gives each box of `bodies` its color, and the picture a legend. The colors are those of
// options.numbers (ColorByNumbers), else those of options.painting, else one for each of the eight
// most frequent categories of ops, devices or scopes. In the last case, a box has a color only if
// all nodes in it have that color. By op, of boxes that are not ops only layers have a color, that
// of MainGroup.
void ColorBoxes(llvm::ArrayRef<BodyBoxes> bodies, const ViewOptions& options, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_COLORS_H_
