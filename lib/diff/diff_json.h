// A diff for programs.
#ifndef GRAPNEL_LIB_DIFF_DIFF_JSON_H_
#define GRAPNEL_LIB_DIFF_DIFF_JSON_H_

#include "lib/diff/diff.h"
#include "lib/diff/statistics.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// {"same", "matched": [{"a", "b", "changed", "changes"?}], "removed", "added", "groups": [{"a": [],
// "b": []}], "functions": [{"a", "b", "changes"?}], "statistics"}: changes are {"what", "before",
// "after"}, there where there are any.
void WriteDiffJson(const Diff& diff, const DiffStatistics& statistics, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_JSON_H_
