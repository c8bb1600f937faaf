// Groups nodes by device.
#ifndef GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
#define GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_

#include "lib/ir/module.h"
#include "lib/render/picture.h"

namespace grapnel {

// Makes each device an outermost scope around the name scopes of its nodes: "CPU:0", or for a
// device of another job "worker:1:GPU:0". For this, adds the scope to the nodes' names in the main
// graph and to the node and scope names in `view`. Device scopes are kept even if the data flow
// leaves and reenters them.
void GroupByDevice(Module& module, ViewOptions& view);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
