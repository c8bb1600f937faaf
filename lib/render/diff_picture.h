// A diff as a picture: both graphs as one, what differs in colors.
#ifndef GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_

#include "lib/diff/union_graph.h"
#include "lib/render/picture.h"

namespace grapnel {

struct DiffPicture {
  UnionGraph graph;  // what the picture's boxes are of
  Picture picture;
};

// Of a diff from some graph to `b`. Scopes where anything differs are opened, unless they are more
// than a reader can take in. Errors: MakePicture's.
Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
