// Finds calls that were inlined between one stage and the next.
#ifndef GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
#define GRAPNEL_LIB_DIFF_OPENED_CALLS_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Finds these calls in a diff in which names decided. TensorFlow names the copy of a body's node
// CALL/NODE, and that of a lowered loop or branch CALL/body/_N/NODE. Removes the copies from
// `added`, the changes from the call node, and from `removed` the bodies of functions that B lacks
// and that live on in copies. Linear in nodes and calls.
void OpenCalls(const Module& a, const Module& b, Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
