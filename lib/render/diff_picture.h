// Makes a picture of a diff: one graph with the nodes of both, and colors for the differences.
#ifndef GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_

#include "lib/diff/union_graph.h"
#include "lib/render/picture.h"

namespace grapnel {

struct DiffPicture {
  UnionGraph graph;  // the picture's graph
  Picture picture;
};

// `diff` must be between some graph and `b`. Opens the scopes with differences, unless there are
// too many to read. Returns the errors of MakePicture.
Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
