// The story of a timeline by layer.
#ifndef GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_
#define GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_

#include <map>
#include <string>
#include <vector>

#include "lib/diff/layer_story.h"
#include "lib/diff/timeline.h"

namespace grapnel {

// Tells what stages did to layers. The layers are those that the graph had before, since later
// stages may lack the variables by which layers are found. The timeline outlives it.
class TimelineLayers {
 public:
  explicit TimelineLayers(const Timeline& timeline) : timeline_(timeline) {}

  // Returns the story of a stage; empty for the first stage of a trace.
  LayerStory OfStage(int stage);

  // The stages between which all that passes did to a graph happened. It begins where the last
  // calls were inlined, since what was done to the nodes before cannot be followed.
  struct Whole {
    int first = 0, last = 0;
  };
  // Returns the graphs with which traces begin, in the timeline's order, if they have two stages.
  std::vector<Whole> Graphs() const;
  // Cost: a diff, if there are stages between the two.
  LayerStory OfGraph(const Whole& graph);

 private:
  const LayerNames& NamesAt(int stage);
  LayerStory StoryFrom(int begin, const TimelineStage& before, const TimelineStage& now);

  const Timeline& timeline_;
  std::map<int, LayerNames> names_;  // by stage
};

// Writes the stories of graphs, each once. Unless `all`, of the two largest graphs that have one.
void WriteTimelineLayers(const Timeline& timeline, bool all, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_LAYERS_H_
