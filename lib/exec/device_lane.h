// What an executor has of a device: a stream, a pool of its memory, copies to and from the host.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
#define GRAPNEL_LIB_EXEC_DEVICE_LANE_H_

#include <memory>

#include "lib/exec/kernel.h"

namespace grapnel {

// One stream for all nodes of a device in a plan: they run in the order in which they were queued,
// so memory that a node gave back serves the next without waiting. Nothing in it leaves the
// executor: feeds and fetches are in host memory.
struct DeviceLane {
  Device* device;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Allocator> allocator;  // of the device's memory

  static Expected<std::unique_ptr<DeviceLane>> Open(Device& device);
};

// Whether a node may run on `device`: it names no other one.
bool AllowsDevice(const Node& node, const Device& device);

// The kernel of a copy node; a null lane is the host. The copy to the host waits until it is there.
Expected<KernelFn> MakeCopyKernel(DeviceLane* from, DeviceLane* to);

// Copies of tensors that may lie on the lane's device, in host memory.
Error CopyToHost(DeviceLane& lane, llvm::ArrayRef<Tensor> tensors,
                 llvm::SmallVectorImpl<Tensor>& copies);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_DEVICE_LANE_H_
