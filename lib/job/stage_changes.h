// What became of the nodes of a graph from one dump of it to the next, by their names.
#ifndef GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
#define GRAPNEL_LIB_JOB_STAGE_CHANGES_H_

#include "lib/ir/module.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// Adds to `story` what `pass` did to the main graph between two dumps: which nodes it made, gave
// another op or opened from a call ("here"), and what became of those that are gone. Cost: that of
// DiffModules.
void AddChanges(const Module& before, const Module& after, llvm::StringRef pass, GraphStory* story);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
