// Explains the lines and frames of a picture, as text.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
#define GRAPNEL_LIB_RENDER_PICTURE_KEY_H_

#include <string>
#include <vector>

#include "lib/render/picture.h"

namespace grapnel {

// Names the direction of the data flow, and explains those lines and frames that occur in the
// picture. `closed` describes how the format draws a closed box: "double frame".
std::string PictureKey(const Picture& picture, llvm::StringRef closed);

// Returns the colors that have a name, the neutral color last.
std::vector<Swatch> NamedColors(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
