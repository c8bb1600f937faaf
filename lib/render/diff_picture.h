// Makes a picture of a diff: one graph with the nodes of both, and colors for the differences.
#ifndef GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_

#include "lib/diff/union_graph.h"
#include "lib/diff/value_diff.h"
#include "lib/render/picture.h"

namespace grapnel {

struct DiffPicture {
  UnionGraph graph;  // the picture's graph
  Picture picture;
};

// `diff` must be between some graph and `b`; `values`, if not null, is the comparison of their
// values, and `layers`, if not null, are those of both graphs. Marks nodes with differences, and
// the readers of constants and variables with differences (lib/render/diff_marks.h). Opens some of
// the scopes with marked nodes: see DiffMarks::ScopesToOpen. Returns the errors of MakePicture.
Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff,
                                      const ValueReport* values = nullptr,
                                      const BoxLayers* layers = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DIFF_PICTURE_H_
