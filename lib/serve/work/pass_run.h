// Grappler's passes on a graph that is shown: what each stage did, and what did not happen and why.
#ifndef GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_
#define GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"
#include "lib/io/ends.h"
#include "lib/pass/run_record.h"
#include "lib/support/error.h"

namespace grapnel {

// The stages of a run of passes; of a folder of TensorFlow's dumps the graphs alone.
struct PassStory {
  std::shared_ptr<const Timeline> timeline;
  RunRecord record;
  bool knows_near_misses = false;
  std::vector<Refusal> near_misses;
  std::vector<std::string> notes;  // on how it ran
};

struct PassRunOptions {
  Ends ends;           // no fetches: what nobody reads
  std::string device;  // for nodes without one; may be empty
  std::string line;    // what the story's graph is called
};

// Of {"feed": "a,b", "fetch": "c", "device": "/device:CPU:0"}, each of which may be missing.
Expected<PassRunOptions> ParsePassRunOptions(llvm::StringRef json);

// Runs the default pipeline, as `grapnel opt` does, on a copy of `module`. Keeps a copy of the
// graph, constants too, after each pass that changed it. Errors: a fetch that is not there, a pass
// that failed.
Expected<PassStory> RunPasses(const Module& module, const PassRunOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_
