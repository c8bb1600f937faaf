// Draws a diff: both graphs as one, with the differences in colors.
#ifndef GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_

#include "lib/diff/union_graph.h"
#include "lib/render/picture.h"

namespace grapnel {

struct DiffPicture {
  UnionGraph graph;  // the picture's graph
  Picture picture;
};

// `diff` is from some graph to `b`. Opens the scopes with differences, unless there are too many to
// read. Errors: MakePicture's.
Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
