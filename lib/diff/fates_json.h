// Writes what a stage of a run did to nodes as JSON.
#ifndef GRAPNEL_LIB_DIFF_FATES_JSON_H_
#define GRAPNEL_LIB_DIFF_FATES_JSON_H_

#include "lib/diff/diff.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes these attributes into the open object, nothing unless names decided: "fates": [{"node",
// "fate", "into"?}], "opened": [{"call", "function", "nodes": [{"node", "copy"}]}], "counted":
// [{"what", "nodes"}].
void WriteFatesJson(const Diff& diff, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FATES_JSON_H_
