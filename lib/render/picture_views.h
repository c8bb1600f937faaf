// A picture as what the scripts in lib/render/web draw: a view for each frame, laid out as far as
// that needs no sizes.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_

#include <string>

#include "lib/render/picture.h"

namespace grapnel {

// {"title", "header": [line, ...], "key", "colors": {"title", "swatches": [{"name", "fill"}]},
//  "direction", "views": [{"boxes", "sources", "sinks", "edges", "items", "layers"}, ...]}
// A view is as a page has of a scope (lib/render/scope_json.cpp); views[0] is the outermost one, a
// box with "frame" is open and says which view is in it. What enters or leaves a frame does so at
// ports, named by the key of the other end, where the frame and that end are in one view.
std::string PictureViewsJson(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
