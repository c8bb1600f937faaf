// Writes a picture as JSON: its boxes, their contents, and the edges between them.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_JSON_H_
#define GRAPNEL_LIB_RENDER_PICTURE_JSON_H_

#include "lib/render/picture.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes these attributes into the open object:
//  "title", "header": [line, ...],
//  "boxes": [{"id", "kind", "title", "name", "layer", "made_up": true, "color": its name, "notes",
//    "frame", "parts": [[node, ...], ...]}, ...],
//  "frames": [{"id", "title", "layer", "made_up": true, "parent"}, ...],
//  "edges": [{"from", "to", "kind", "count", "label", "back"}, ...]
// Boxes and frames refer to each other by index. "parts" are the nodes that a box stands
// for, with one list for each repeat of a series: see ViewOptions::list_nodes. Leaves out an empty
// title and header, and fields of a box, frame or edge that are empty or do not apply.
void WritePictureJson(const Picture& picture, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_JSON_H_
