// Runs Grappler's passes on the graph of a page, and records the effects of each stage, and the
// missed optimizations with reasons.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PASS_RUN_H_
#define GRAPNEL_LIB_SERVE_PAGES_PASS_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/timeline.h"
#include "lib/job/optimize.h"
#include "lib/pass/run_record.h"
#include "lib/serve/pages/stories.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The stages of a run of passes. For a folder of TensorFlow's dumps, it contains only the graphs:
// no rewrites, near misses or times.
struct PassRun {
  std::shared_ptr<const Timeline> timeline;
  std::string folder;  // the folder of the dumps; "" if the graphs are not in files
  RunRecord record;
  bool knows_near_misses = false;
  std::vector<Refusal> near_misses;
  std::vector<std::string> notes;  // remarks about the run
  std::vector<Story> stories;      // the timeline's stories; filled by StagePages
  std::vector<int> story_of;       // by stage: index in `stories`
};

// Parses {"feed": "a,b", "fetch": "c", "signature": "serving_default", "passes": "remapper,layout",
// "without": "layout,remapper/fuse_bias", "rewriter_config": "remapping: OFF", "limit": 3,
// "device": "/device:CPU:0", "onednn": "on"}. Every field may be missing or empty, and `limit` may
// be a string. Reads no files.
Expected<OptimizeRequest> ParseOptimizeRequest(llvm::StringRef json);

// Runs the passes on a copy of the graph, and keeps a copy, including constants, of the result of
// each pass that changed it. `line`: the graph's name in the list of stages. Errors: the graph is
// not valid; those of Optimize; a pass fails. Calls `is_gone` before each pass, and stops with an
// error if it returns true.
Expected<PassRun> RunPasses(const OpenedGraph& opened, OptimizeRequest request,
                            const std::string& line, llvm::function_ref<bool()> is_gone = nullptr);

// Answers why nodes of the graph are not rewritten (lib/job/node_question.h). `json`: as for
// ParseOptimizeRequest, with the name in "node". Returns {"nodes": [...]}, as
// `passes --why-not --node --json` prints it. Errors: those of ParseOptimizeRequest and RunPasses;
// there is no such node. `is_gone`: as for RunPasses.
Expected<std::string> WhyNotJson(const OpenedGraph& opened, llvm::StringRef json,
                                 llvm::function_ref<bool()> is_gone = nullptr);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PASS_RUN_H_
