// Writes a diff as JSON.
#ifndef GRAPNEL_LIB_DIFF_DIFF_JSON_H_
#define GRAPNEL_LIB_DIFF_DIFF_JSON_H_

#include "lib/diff/diff.h"
#include "lib/diff/python_functions.h"
#include "lib/diff/signature_diff.h"
#include "lib/diff/statistics.h"
#include "lib/diff/value_diff.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes these members of the JSON object that `json` has begun: "same", "matched": [{"a", "b",
// "changed", "changes"?}], "removed", "added", "groups": [{"a": [], "b": []}], "functions": [{"a"?,
// "b"?, "changes"?}], "renames": [{"a", "b", "nodes"}], "statistics": {"a", "b"}, and those of
// WriteFatesJson. Changes are {"what", "before", "after"}; an empty list of them is omitted.
// "python_functions": [{"name", "role", "removed", "added", "changed", "replaced", "same",
// "functions": [{"a"?, "b"?, "role", and the same counts}]}]. Models with signatures have
// "signatures": [{"name", "in_a", "in_b", "changes"?, "nodes_a", "nodes_b", "removed", "added",
// "changed", "replaced"}]. If values were compared, there is "values": {"not_compared"?,
// "compared", "same", "different": [{"a"?, "b"?, "type", "problem" or "elements", "differing",
// "largest", "relative", "not_finite_a", "not_finite_b"}]}.
void WriteDiffJson(const Diff& diff, const DiffStatistics& statistics,
                   llvm::ArrayRef<PythonFunctionChanges> functions,
                   llvm::ArrayRef<SignatureDiff> signatures, const ValueReport* values,
                   llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_JSON_H_
