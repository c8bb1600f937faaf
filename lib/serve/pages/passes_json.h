// What the tab Passes reads: the stages of a run, what each rewrote, and what did not happen.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
#define GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_

#include <string>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/pages/stage_page.h"

namespace grapnel {

// Of a stage's whole run: the stages with their counts and times, passes that found nothing to do,
// notes, and near misses (not more than some thousands), each with where its node can be seen.
// `pages` has all the run's stages.
std::string PassesJson(const PageSet& pages, const StagePage& stage);

// The stage's rewrites with reasons. Names are [name, body, node], or [name] of what neither graph
// has: it came and went within the stage. Errors: it is the first stage, or cannot be drawn.
Expected<std::string> RewritesJson(StagePage& stage);

// What became of a node (LifeOf in lib/diff/timeline.h), one block for each story that has it, that
// of `stage` first, then those of its function: [{"title", "function", "line", "events": [{"entry",
// "stage", "text", "line"}]}]; "line" of an event: it is of a partition. `node`: NODE or
// FUNCTION/NODE; one that is nowhere has no block.
std::string LifeJson(const StagePage& stage, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
