// Finds calls that were inlined between two stages.
#ifndef GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
#define GRAPNEL_LIB_DIFF_OPENED_CALLS_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Finds inlined calls in a diff whose nodes were matched by name. TensorFlow names the copy of a
// body's node CALL/NODE, and if the call is a lowered loop or branch CALL/body/_N/NODE. The diff
// then no longer lists the copies as added or the call node as changed; nor, if B lacks the inlined
// function, the function's nodes as removed. Cost: the nodes of A, and the body of each called
// function once for each call.
void OpenCalls(const Module& a, const Module& b, Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_OPENED_CALLS_H_
