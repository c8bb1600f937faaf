// Explains the lines and frames of a picture, as text.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
#define GRAPNEL_LIB_RENDER_PICTURE_KEY_H_

#include <string>
#include <vector>

#include "lib/render/picture.h"

namespace grapnel {

// Lists only those in use. `closed`: the look of a closed box, "double frame".
std::string PictureKey(const Picture& picture, llvm::StringRef closed);

// The colors with a name, the neutral one last.
std::vector<Swatch> NamedColors(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
