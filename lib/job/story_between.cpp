#include "lib/job/story_between.h"

#include "lib/support/side_by_side.h"

namespace grapnel {

LayerStory StoryBetween(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff,
                        bool of_stages, const ValueReport* values) {
  if (diff.Same() && (!values || values->different.empty())) return {};
  bool is_large = a.module().main.num_nodes() + b.module().main.num_nodes() > kNodesWorthThreads;
  LayerNames before, of_b;
  auto read_a = [&] { before = LayerNames(a.file()); };
  // A later stage may lack the variables by which layers are found, and has the names of `a`.
  auto read_b = [&] { of_b = of_stages ? LayerNames() : LayerNames(b.file()); };
  SideBySide(is_large && !of_stages, read_a, read_b);
  DiffOfLayers graphs{a.module(), b.module(), diff, before, of_stages ? before : of_b};
  graphs.of_stages = of_stages;
  return StoryOf(graphs, values);
}

}  // namespace grapnel
