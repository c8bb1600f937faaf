// Writes a picture as input for the scripts in lib/render/web: a view for each frame, laid out
// except for sizes.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_

#include <string>

#include "lib/render/picture.h"

namespace grapnel {

// {"title", "header": [line, ...], "key", "colors": {"title", "swatches": [{"name", "fill"}]},
//  "direction", "views": [{"boxes", "sources", "sinks", "edges", "items", "layers"}, ...]}
// A view is like a scope on the page (lib/render/scope_json.cpp); views[0] is the outermost one. A
// box with "frame" is open; "frame" is the index of its view. Edges enter and leave a frame at
// ports. A port's name is the key of the edge's other end in the innermost view that contains both
// the frame and that end.
std::string PictureViewsJson(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
