// Writes as JSON how nodes were removed from one stage of a run to a later one.
#ifndef GRAPNEL_LIB_DIFF_FATES_JSON_H_
#define GRAPNEL_LIB_DIFF_FATES_JSON_H_

#include "lib/diff/diff.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes these members of the JSON object that `json` has begun; the arrays are empty unless nodes
// were matched by name: "fates": [{"node", "fate", "into"?}], "opened": [{"call", "function",
// "nodes": [{"node", "copy"}]}], "counted": [{"what", "nodes": their number}].
void WriteFatesJson(const Diff& diff, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FATES_JSON_H_
