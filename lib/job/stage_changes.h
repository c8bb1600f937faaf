// Tracks nodes by name from one dump of a graph to the next.
#ifndef GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
#define GRAPNEL_LIB_JOB_STAGE_CHANGES_H_

#include "lib/ir/module.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// Adds to `story` what `pass` did to the main graph between two dumps: to `here` each node that it
// created, gave another op, fused others into or inlined from a call, and each inlined call; to
// `gone` what happened to each node that it removed. Cost: that of DiffModules.
void AddChanges(const Module& before, const Module& after, llvm::StringRef pass, GraphStory* story);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
