// The documents of the Passes tab: the stages of a run, their rewrites, and missed optimizations.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
#define GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_

#include <string>

#include "lib/serve/pages/page_set.h"
#include "lib/serve/pages/stage_page.h"

namespace grapnel {

// Returns the document of the run that contains `stage`: the stages with their counts and times,
// passes that found nothing to do, notes, and near misses (rewrites that rules refused; at most
// some thousands), each with a link to its node if the run's first or last graph has the node.
// `pages` must contain all stages of the run.
std::string PassesJson(const PageSet& pages, const StagePage& stage);

// Returns the stage's rewrites with reasons; at most some thousands. Names are [name, body, node],
// or [name] for a node that neither graph has because it existed only within the stage. Errors: the
// stage is the first of its graph.
Expected<std::string> RewritesJson(StagePage& stage);

// Returns the life of a node (LifeOf in lib/diff/timeline.h), one block for each story with that
// node: first the story of `stage`, then the others of its function, then those of other functions:
// [{"title", "function", "line", "events": [{"entry", "stage", "text", "line"}]}]. An event with
// "line" is from a partition. `node`: NODE or FUNCTION/NODE; an unknown node has no blocks.
std::string LifeJson(const StagePage& stage, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PASSES_JSON_H_
