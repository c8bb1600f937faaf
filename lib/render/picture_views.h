// Writes a picture as input for the scripts in lib/render/web: a view for each frame, laid out
// except for sizes.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_

#include <string>

#include "lib/render/picture.h"

namespace grapnel {

// {"title", "header": [line, ...], "key", "colors": {"title", "swatches": [{"name", "fill"}]},
//  "direction", "views": [{"boxes", "sources", "sinks", "edges", "items", "layers"}, ...]}
// A view is like a page's scope (lib/render/scope_json.cpp); views[0] is the outermost one. A box
// with "frame" is open and gives the index of its view. Edges enter and leave a frame at ports,
// named by the key of the other end if the frame and that end are in one view.
std::string PictureViewsJson(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
