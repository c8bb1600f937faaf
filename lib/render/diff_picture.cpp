#include "lib/render/diff_picture.h"

#include "lib/diff/diff_text.h"
#include "lib/render/diff_marks.h"

namespace grapnel {
namespace {

constexpr size_t kScopesOpened = 12;  // the largest number

// The colors are light enough for black text, and distinguishable for color-blind readers.
Painting PaintingOf(const DiffMarks& marks, bool has_values) {
  Painting painting;
  painting.title = "diff";
  painting.swatches = {{"removed", "#f2a7a0"},
                       {"added", "#a6dba0"},
                       {"changed", "#fbe08a"},
                       {"replaced", "#9ecae8"}};
  painting.several = {"several of these", "#d9c2e5"};
  if (has_values) {
    painting.counted = static_cast<int>(painting.swatches.size());
    painting.swatches.push_back({"weights changed", "#f5bd84"});
  }
  painting.swatch_of = [&marks, weights = painting.counted](const Node& node) {
    return weights >= 0 && marks.HasOtherValues(node) ? weights
                                                      : static_cast<int>(marks.Of(node)) - 1;
  };
  return painting;
}

}  // namespace

Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff, const ValueReport* values,
                                      const BoxLayers* layers) {
  DiffPicture drawn;
  drawn.graph = MakeUnion(b, diff, values ? DifferentInB(*values) : std::vector<Node>());
  DiffMarks marks(drawn.graph);
  Painting painting = PaintingOf(marks, values != nullptr);
  ViewOptions view;
  view.title = DiffSummary(diff);
  if (values) view.title += "; " + ValuesSummary(*values);
  view.painting = &painting;
  view.list_nodes = true;
  view.layers = layers;
  view.scopes = marks.ScopesToOpen(kScopesOpened);
  ASSIGN_OR_RETURN(drawn.picture, MakePicture(*drawn.graph.module, view));
  return drawn;
}

}  // namespace grapnel
