// Groups nodes by device.
#ifndef GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
#define GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_

#include "lib/ir/module.h"
#include "lib/render/picture.h"

namespace grapnel {

// Makes each device an outermost scope around the name scopes of its nodes: "CPU:0", or for a
// device of a job other than localhost "worker:1:GPU:0"; "no device" for nodes without one. For
// this, adds the scope to the nodes' names in the main graph and to the node names in `view`, but
// not to ViewOptions::scopes. Device scopes are kept even if the data flow leaves and reenters
// them.
void GroupByDevice(Module& module, ViewOptions& view);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DEVICE_SCOPES_H_
