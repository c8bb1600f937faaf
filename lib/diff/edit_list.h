// Converts a matching to a list of differences.
#ifndef GRAPNEL_LIB_DIFF_EDIT_LIST_H_
#define GRAPNEL_LIB_DIFF_EDIT_LIST_H_

#include "lib/diff/diff.h"
#include "lib/diff/function_match.h"

namespace grapnel {

// Returns the differences, unsorted and not filtered by options.only.
Diff MakeEditList(const ModuleView& a, const ModuleView& b, const ModuleMatching& matching,
                  const DiffOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_EDIT_LIST_H_
