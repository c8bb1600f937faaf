// An executor's share of a device: a stream, a memory pool, copies to and from the host.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
#define GRAPNEL_LIB_EXEC_DEVICE_LANE_H_

#include <memory>

#include "lib/exec/kernel.h"

namespace grapnel {

// One stream for all nodes of a plan that run on the same device. The nodes run in the order in
// which they were queued, so the next node can use memory that one node frees without waiting.
// Feeds and fetches are in host memory, not in the lane's.
struct DeviceLane {
  Device* device;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Allocator> allocator;  // of the device's memory

  static Expected<std::unique_ptr<DeviceLane>> Open(Device& device);
};

// True if the node's device name is empty, or states no other kind or number than that of `device`.
// Ignores the job, replica and task in the name.
bool AllowsDevice(const Node& node, const Device& device);

// Returns the kernel of a copy node between a lane and the host; either `from` or `to` is null,
// which means the host. A copy to the host waits until it is complete.
Expected<KernelFn> MakeCopyKernel(DeviceLane* from, DeviceLane* to);

// Appends the tensors to `copies`: copies in host memory of those on the lane's device, and the
// others as they are. Waits for the copies and for all earlier work on the lane.
Error CopyToHost(DeviceLane& lane, llvm::ArrayRef<Tensor> tensors,
                 llvm::SmallVectorImpl<Tensor>& copies);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
