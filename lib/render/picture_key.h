// Explains the lines and frames of a picture, as text.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
#define GRAPNEL_LIB_RENDER_PICTURE_KEY_H_

#include <string>
#include <vector>

#include "lib/render/picture.h"

namespace grapnel {

// How a format draws what formats draw differently, as words: "double frame".
struct DrawnAs {
  const char* closed;   // a closed box
  const char* control;  // a control edge
  const char* through;  // a path through hidden nodes
};

// Names the direction of the data flow, and explains those lines and frames that occur in the
// picture.
std::string PictureKey(const Picture& picture, const DrawnAs& drawn_as);

// Returns the colors that have a name, the neutral color last.
std::vector<Swatch> NamedColors(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_KEY_H_
