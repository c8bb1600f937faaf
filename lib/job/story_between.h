// A job: tells by layer what differs between two opened graphs.
#ifndef GRAPNEL_LIB_JOB_STORY_BETWEEN_H_
#define GRAPNEL_LIB_JOB_STORY_BETWEEN_H_

#include "lib/diff/layer_story.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Returns the story of `diff`, which compares the graphs with `options`; empty if neither graph has
// layers. If the options match nodes by name, `b` is a later stage of the run of `a`, and has its
// layers; in stages, scopes may take the place of layers. `values` as in StoryOf. Cost:
// that of LayersOf for the graphs, unless nothing differs; of another diff if dtypes differ.
LayerStory StoryBetween(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff,
                        const DiffOptions& options, const ValueReport* values);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STORY_BETWEEN_H_
