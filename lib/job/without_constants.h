// Removes constant values from graphs and diffs, so that they can be shared
// (lib/io/strip_constants.h).
#ifndef GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_
#define GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_

#include "lib/diff/diff.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Returns the graph without values; its path is reduced to the file's name, and files next to it
// are not read. `opened` must have the file's own module, not a copy.
Expected<OpenedGraph> WithoutConstants(OpenedGraph opened);

// Removes the values from both modules and from `diff`, which compares them.
void StripConstants(Module* a, Module* b, Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_
