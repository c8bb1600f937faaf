// Calls whose bodies stand in their caller's graph from one stage to the next.
#ifndef GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
#define GRAPNEL_LIB_DIFF_OPENED_CALLS_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Finds them in a diff in which names decided. TensorFlow calls the copy of a body's node
// CALL/NODE, and what it lowers a loop or a branch to CALL/body/_N/NODE. The copies leave `added`,
// the call node's change goes, and so do bodies from `removed` whose function is no more but lives
// on in copies. Linear in nodes and calls.
void OpenCalls(const Module& a, const Module& b, Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
