#include "lib/render/diff_picture.h"

#include "lib/diff/diff_text.h"

namespace grapnel {
namespace {

constexpr size_t kScopesOpened = 12;  // the largest number

// The colors are light enough for black text, and distinguishable for color-blind readers.
Painting PaintingOf(const UnionGraph& graph) {
  Painting painting;
  painting.title = "diff";
  painting.swatches = {{"removed", "#f2a7a0"},
                       {"added", "#a6dba0"},
                       {"changed", "#fbe08a"},
                       {"replaced", "#9ecae8"}};
  painting.several = {"several of these", "#d9c2e5"};
  painting.swatch_of = [&graph](const Node& node) {
    return static_cast<int>(graph.StatusOf(node)) - 1;
  };
  return painting;
}

}  // namespace

Expected<DiffPicture> MakeDiffPicture(const Module& b, const Diff& diff) {
  DiffPicture drawn;
  drawn.graph = MakeUnion(b, diff);
  Painting painting = PaintingOf(drawn.graph);
  ViewOptions view;
  view.title = DiffSummary(diff);
  view.painting = &painting;
  if (drawn.graph.scopes.size() <= kScopesOpened) view.scopes = drawn.graph.scopes;
  ASSIGN_OR_RETURN(drawn.picture, MakePicture(*drawn.graph.module, view));
  return drawn;
}

}  // namespace grapnel
