#include "lib/job/story_between.h"

namespace grapnel {

LayerStory StoryBetween(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff,
                        bool of_stages, const ValueReport* values) {
  if (diff.Same() && (!values || values->different.empty())) return {};
  const LayerNames before(a.file());
  // A later stage may lack the variables by which layers are found.
  const LayerNames now = of_stages ? before : LayerNames(b.file());
  DiffOfLayers graphs{a.module(), b.module(), diff, before, now};
  graphs.of_stages = of_stages;
  return StoryOf(graphs, values);
}

}  // namespace grapnel
