// Writes a picture as input for the scripts in lib/render/web: a view for each frame.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
#define GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_

#include <string>

#include "lib/render/picture.h"

namespace grapnel {

// {"title", "header": [line, ...], "key", "colors": {"title", "swatches": [{"name", "fill"}]},
//  "direction", "views": [{"boxes", "above", "sources", "sinks", "edges"}, ...]}
// A view is like that of a scope on the page (lib/render/web/page_documents.js), without layers;
// views[0] is the outermost one. A box with "frame" is open; "frame" is the index of its view.
// Edges enter and leave a frame at ports, {"key"}. A port's key is that of the edge's other end in
// the innermost view that contains both the frame and that end; "rest" for the rest of too many.
std::string PictureViewsJson(const Picture& picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_VIEWS_H_
