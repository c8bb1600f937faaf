// Grappler's passes on a graph that is shown: what each stage did, and what did not happen and why.
#ifndef GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_
#define GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"
#include "lib/job/optimize.h"
#include "lib/pass/run_record.h"
#include "lib/serve/work/stories.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The stages of a run of passes; of a folder of TensorFlow's dumps the graphs alone.
struct PassRun {
  std::shared_ptr<const Timeline> timeline;
  std::string folder;  // of the dumps; "": the graphs are in no files
  RunRecord record;
  bool knows_near_misses = false;
  std::vector<Refusal> near_misses;
  std::vector<std::string> notes;  // on how it ran
  std::vector<Story> stories;      // of the timeline; StagePages fills them in
  std::vector<int> story_of;       // by stage
};

// Of {"feed": "a,b", "fetch": "c", "signature": "serving_default", "passes": "remapper,layout",
// "rewriter_config": "remapping: OFF", "limit": 3, "device": "/device:CPU:0", "onednn": "on"}, each
// of which may be missing or empty, `limit` as text too. No file is read for it.
Expected<OptimizeRequest> ParseOptimizeRequest(llvm::StringRef json);

// Runs the passes on a copy of the graph; `line`: what the run's graph is called. Keeps a copy of
// the graph, constants too, after each pass that changed it. Errors: Optimize's, a pass that
// failed; `is_gone`, asked before each pass, says that nobody waits for it any more.
Expected<PassRun> RunPasses(const OpenedGraph& opened, OptimizeRequest request,
                            const std::string& line, llvm::function_ref<bool()> is_gone = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_PASS_RUN_H_
