// Groups nodes by device.
#ifndef GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
#define GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_

#include "lib/ir/module.h"
#include "lib/render/picture.h"

namespace grapnel {

// Makes each device a scope around all others: "CPU:0", or for a device of another job
// "worker:1:GPU:0". Renames the nodes of the main graph, and the names in `view` accordingly.
// Device scopes are kept even if the data flow leaves and reenters them.
void GroupByDevice(Module& module, ViewOptions& view);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
