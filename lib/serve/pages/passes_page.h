// What the tab Passes reads: the stages of a run, what each rewrote, and what did not happen.
#ifndef GRAPNEL_LIB_SERVE_PAGES_PASSES_PAGE_H_
#define GRAPNEL_LIB_SERVE_PAGES_PASSES_PAGE_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/render/graph_page.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/work/pass_run.h"

namespace grapnel {

// Where a near miss's node can be seen.
struct EntryPlace {
  size_t entry = 0;
  DiffPage::Place place;
};

// The stages with their counts and times, passes that found nothing to do, notes, and near misses
// (not more than some thousands), each with the place that `find` gives. `first`: the entry of the
// story's first stage.
std::string PassesJson(const PassStory& story, size_t first,
                       llvm::function_ref<std::optional<EntryPlace>(const Refusal&)> find);

// A stage's rewrites with reasons. Names are [name, body, node], or [name] of what neither graph
// has: it came and went within the stage.
std::string RewritesJson(llvm::ArrayRef<Rewrite> rewrites, const DiffPage& page);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_PAGES_PASSES_PAGE_H_
