// The stories of a run or a folder of dumps: one for each trace or instance of each function.
#ifndef GRAPNEL_LIB_SERVE_PAGES_STORIES_H_
#define GRAPNEL_LIB_SERVE_PAGES_STORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

// A story: the dumps of one graph, from the first to the last, and of the partitions that were made
// from it.
struct Story {
  std::string line;         // DumpStage::line of the graph; partitions have other lines
  std::string function;     // "train_step": the same for all traces and instances
  std::string title;        // "train_step 221, instance 2"
  std::vector<int> stages;  // indices of stages, in order
  int64_t nodes = 0;        // nodes of the largest main graph
  int64_t changed = 0;      // number of stages that changed something
};

// Returns the stories of a timeline, in the order of their first stages. Each stage is in exactly
// one story. Takes time linear in the stages.
std::vector<Story> StoriesOf(const Timeline& timeline);

// Returns the index of the story with the largest graph; of several, the one with the most changes.
// 0 if there are no stories.
size_t LargestStory(llvm::ArrayRef<Story> stories);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_STORIES_H_
