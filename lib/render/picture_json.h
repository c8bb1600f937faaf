// A picture as JSON: which boxes there are, what is in them, what runs between them.
#ifndef GRAPNEL_LIB_RENDER_PICTURE_JSON_H_
#define GRAPNEL_LIB_RENDER_PICTURE_JSON_H_

#include "lib/render/picture.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// As attributes of an object that is open:
//  "title", "header": [line, ...],
//  "boxes": [{"id", "kind", "title", "name", "notes", "frame", "parts": [[node, ...], ...]}, ...],
//  "frames": [{"id", "title", "parent"}, ...],
//  "edges": [{"from", "to", "kind", "count", "label", "back"}, ...]
// Boxes and frames are named by number where others speak of them. "parts" are the nodes that a box
// stands for, of a series a list for each of its equals: see ViewOptions::list_nodes. What is empty
// is left out.
void WritePictureJson(const Picture& picture, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PICTURE_JSON_H_
