// The story of a timeline by layer.
#ifndef GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_
#define GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_

#include <map>
#include <string>
#include <vector>

#include "lib/diff/layer_story.h"
#include "lib/diff/timeline.h"

namespace grapnel {

// Tells what stages did to layers. The layers are those of the stage with which a trace begins,
// since later stages may lack the variables by which layers are found. The timeline outlives it.
class TimelineLayers {
 public:
  explicit TimelineLayers(const Timeline& timeline) : timeline_(timeline) {}

  // Returns the story of a stage; empty for the first stage of a trace.
  LayerStory OfStage(int stage);

  // What all stages of a graph did together.
  struct Whole {
    int first = 0, last = 0;  // stages
    LayerStory story;
  };
  // Returns the story of each graph that changed, in the timeline's order; at most `most`. Cost: a
  // diff for each graph with more than two stages.
  std::vector<Whole> OfGraphs(size_t most);

 private:
  const LayerNames& NamesAt(int begin);
  LayerStory StoryFrom(int begin, const TimelineStage& before, const TimelineStage& now);

  const Timeline& timeline_;
  std::map<int, LayerNames> names_;  // by the first stage of a trace
};

// Writes the stories of graphs, of at most four of them unless `all`.
void WriteTimelineLayers(const Timeline& timeline, bool all, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_
