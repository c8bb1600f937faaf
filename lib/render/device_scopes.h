// Devices as scopes.
#ifndef GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
#define GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_

#include "lib/ir/module.h"
#include "lib/render/picture.h"

namespace grapnel {

// Each device becomes a scope around all others: "CPU:0", of another job than this one
// "worker:1:GPU:0". Renames the nodes of the main graph; the names that `view` has follow,
// and the scopes stay whatever flows between them.
void GroupByDevice(Module& module, ViewOptions& view);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
