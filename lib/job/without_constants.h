// Graphs and what was found of them, as they can be shown to others (lib/io/strip_constants.h).
#ifndef GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_
#define GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_

#include "lib/diff/diff.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// The graph without values, of a file that tells no more than its name: no folder, and nothing that
// lies beside it. Only of one whose module is the file's own.
Expected<OpenedGraph> WithoutConstants(OpenedGraph opened);

// Leaves the values out of both modules, and out of what `diff`, which is of them, tells.
void StripConstants(Module* a, Module* b, Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_WITHOUT_CONSTANTS_H_
