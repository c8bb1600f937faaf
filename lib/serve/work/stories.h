// The stories of a folder of dumps: one for each trace of each function.
#ifndef GRAPNEL_LIB_SERVE_WORK_STORIES_H_
#define GRAPNEL_LIB_SERVE_WORK_STORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

// One graph from its first dump to its last, with the partitions made from it.
struct Story {
  std::string line;         // DumpStage::line of its graph; a partition has its own
  std::string function;     // "train_step": common to its traces and instances
  std::string title;        // "train_step 221, instance 2"
  std::vector<int> stages;  // their indices, in order
  int64_t nodes = 0;        // of the largest main graph
  int64_t changed = 0;      // stages that changed something
};

// Each stage is in exactly one story. In the order of their first stages. Linear in stages.
std::vector<Story> StoriesOf(const Timeline& timeline);

// The story with the largest graph, among equals the one with the most changes; 0 if there are
// none.
size_t LargestStory(llvm::ArrayRef<Story> stories);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_STORIES_H_
