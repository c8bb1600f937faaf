// The documents of the tab Passes: the stages of a run, their rewrites, and missed optimizations.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
#define GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_

#include <string>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/pages/stage_page.h"

namespace grapnel {

// For a stage's whole run: the stages with their counts and times, passes that found nothing to do,
// notes, and near misses (at most some thousands), each with a link to its node. `pages` has all
// the run's stages.
std::string PassesJson(const PageSet& pages, const StagePage& stage);

// The stage's rewrites with reasons. Names are [name, body, node], or [name] for a node that
// neither graph has because it existed only within the stage. Errors: it is the first stage, or
// cannot be drawn.
Expected<std::string> RewritesJson(StagePage& stage);

// The life of a node (LifeOf in lib/diff/timeline.h), one block for each story with that node,
// first that of `stage`, then those of its function: [{"title", "function", "line", "events":
// [{"entry", "stage", "text", "line"}]}]. An event with "line" is of a partition. `node`: NODE or
// FUNCTION/NODE; an unknown node has no blocks.
std::string LifeJson(const StagePage& stage, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
