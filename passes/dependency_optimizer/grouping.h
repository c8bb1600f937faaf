// Fewer control edges from device to device, a step of dependency_optimizer.
#ifndef GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_GROUPING_H_
#define GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_GROUPING_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Control edges to one node from two or more on another device (or, `by_host`, on other devices of
// another machine) go through one NoOp there. False when --limit is used up. Linear.
bool GroupCrossDeviceControls(Editor& edit, bool by_host);

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_GROUPING_H_
