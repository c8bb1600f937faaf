// The stories of a folder of dumps: one for each trace of each function.
#ifndef GRAPNEL_LIB_SERVE_WORK_STORIES_H_
#define GRAPNEL_LIB_SERVE_WORK_STORIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"

namespace grapnel {

// A graph from its first dump to its last, with the partitions that came from it.
struct Story {
  std::string line;         // DumpStage::line of its graph; a partition has another
  std::string function;     // "train_step": what its traces and instances share
  std::string title;        // "train_step 221, instance 2"
  std::vector<int> stages;  // their indices, in order
  int64_t nodes = 0;        // of the largest main graph among them
  int64_t changed = 0;      // stages that changed something
};

// Each stage is in exactly one. In the order in which they begin. Linear in stages.
std::vector<Story> StoriesOf(const Timeline& timeline);

// The one with the largest graph, of equal ones that with the most changes; 0 of none.
size_t LargestStory(llvm::ArrayRef<Story> stories);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_STORIES_H_
