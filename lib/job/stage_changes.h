// What became of the nodes of a graph from one dump of it to the next, by their names.
#ifndef GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
#define GRAPNEL_LIB_JOB_STAGE_CHANGES_H_

#include <string>

#include "lib/ir/graph.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// Adds to `story` what `pass` did between two dumps: nodes that the second has and the first has
// not, or has with another op ("here"), and those that are gone: merged, bypassed, fused, folded
// or pruned. Cost: linear in nodes and edges.
void AddChanges(const Graph& before, const Graph& after, llvm::StringRef pass, GraphStory* story);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_STAGE_CHANGES_H_
