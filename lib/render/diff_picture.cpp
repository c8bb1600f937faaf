#include "lib/render/diff_picture.h"

#include "lib/diff/diff_text.h"
#include "lib/render/diff_marks.h"

namespace grapnel {
namespace {

constexpr size_t kScopesOpened = 12;  // the largest number

// The colors are light enough for black text, and distinguishable for color-blind readers.
Painting PaintingOf(const DiffMarks& marks) {
  Painting painting;
  painting.title = "diff";
  painting.swatches = {{"removed", "#f2a7a0"},
                       {"added", "#a6dba0"},
                       {"changed", "#fbe08a"},
                       {"replaced", "#9ecae8"}};
  painting.several = {"several of these", "#d9c2e5"};
  painting.swatch_of = [&marks](const Node& node) { return static_cast<int>(marks.Of(node)) - 1; };
  return painting;
}

}  // namespace

Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff,
                                      const ValueReport* values) {
  DiffPicture drawn;
  drawn.graph = MakeUnion(b, diff, values ? DifferentInB(*values) : std::vector<Node>());
  DiffMarks marks(drawn.graph);
  Painting painting = PaintingOf(marks);
  ViewOptions view;
  view.title = DiffSummary(diff);
  if (values) view.title += "; " + ValuesSummary(*values);
  view.painting = &painting;
  view.list_nodes = true;
  view.scopes = marks.ScopesToOpen(kScopesOpened);
  ASSIGN_OR_RETURN(drawn.picture, MakePicture(*drawn.graph.module, view));
  return drawn;
}

}  // namespace grapnel
