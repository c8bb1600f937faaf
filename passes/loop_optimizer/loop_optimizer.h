// The rules of the loop optimizer: each looks at the whole body. False when --limit is used up.
#ifndef GRAPNEL_PASSES_LOOP_OPTIMIZER_LOOP_OPTIMIZER_H_
#define GRAPNEL_PASSES_LOOP_OPTIMIZER_LOOP_OPTIMIZER_H_

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"

namespace grapnel {

bool RemoveStackPushes(Editor& edit);
bool RemoveDeadBranches(Editor& edit);

// What to wait for instead of reading the port: its node, but where that is a Switch, which runs
// even if the output is dead, an Identity that reads it.
Node LoopAnchor(Editor& edit, OpKinds& kinds, Port port);

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_LOOP_OPTIMIZER_LOOP_OPTIMIZER_H_
