// An executor's share of a device: a stream, a memory pool, copies to and from the host.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
#define GRAPNEL_LIB_EXEC_DEVICE_LANE_H_

#include <memory>

#include "lib/exec/kernel.h"

namespace grapnel {

// One stream for all nodes of a device in a plan. They run in the order in which they were queued,
// so memory that one node frees serves the next without waiting. No memory of the lane leaves the
// executor: feeds and fetches are in host memory.
struct DeviceLane {
  Device* device;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Allocator> allocator;  // of the device's memory

  static Expected<std::unique_ptr<DeviceLane>> Open(Device& device);
};

// True if a node may run on `device`: the node does not name another device.
bool AllowsDevice(const Node& node, const Device& device);

// The kernel of a copy node; a null lane is the host. A copy to the host waits until it is
// complete.
Expected<KernelFn> MakeCopyKernel(DeviceLane* from, DeviceLane* to);

// Copies tensors that may be on the lane's device to host memory.
Error CopyToHost(DeviceLane& lane, llvm::ArrayRef<Tensor> tensors,
                 llvm::SmallVectorImpl<Tensor>& copies);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
