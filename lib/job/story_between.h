// A job: tells by layer what differs between two opened graphs.
#ifndef GRAPNEL_LIB_JOB_STORY_BETWEEN_H_
#define GRAPNEL_LIB_JOB_STORY_BETWEEN_H_

#include "lib/diff/layer_story.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Returns the story of `diff`, which compares the graphs. `of_stages`: it matched nodes by name, so
// `b` is a later stage of the run of `a`, and has its layers. `values` as in StoryOf. Cost: that of
// LayersOf for the graphs, unless nothing differs.
LayerStory StoryBetween(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff,
                        bool of_stages, const ValueReport* values);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STORY_BETWEEN_H_
