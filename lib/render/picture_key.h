// What lines and frames of a picture mean, in words.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
#define GRAPNEL_LIB_RENDER_PICTURE_KEY_H_

#include <string>
#include <vector>

#include "lib/render/picture.h"

namespace grapnel {

// Of those that are there. `closed`: how a closed box looks, "double frame".
std::string PictureKey(const Picture& picture, llvm::StringRef closed);

// The colors with a name, the neutral one last.
std::vector<Swatch> NamedColors(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
