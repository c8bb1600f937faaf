#include "lib/exec/device_lane.h"

#include <memory>
#include <mutex>

#include "lib/ir/device_name.h"

namespace grapnel {

Expected<std::unique_ptr<DeviceLane>> DeviceLane::Open(Device& device) {
  auto lane = std::make_unique<DeviceLane>();
  lane->device = &device;
  ASSIGN_OR_RETURN(lane->stream, device.NewStream());
  lane->allocator = MakePoolAllocator(device.allocator());
  return lane;
}

bool AllowsDevice(const Node& node, const Device& device) {
  if (node.device().empty()) return true;
  auto name = DeviceSpec::Parse(node.device());
  if (!name) {
    llvm::consumeError(name.takeError());
    return false;  // a malformed name matches no device
  }
  return (!name->type || name->type.text() == device.kind()) &&
         (name->id < 0 || name->id == device.ordinal());
}

Expected<KernelFn> MakeCopyKernel(DeviceLane* from, DeviceLane* to) {
  if (to) {
    return [to](KernelContext& context) -> Error {
      ASSIGN_OR_RETURN(Tensor copy,
                       CopyTensor(context.input(0), to->device, *to->stream, *to->allocator));
      context.SetOutput(0, std::move(copy));
      return Error::success();
    };
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Event> there, from->device->NewEvent());
  return [from, there = std::move(there),
          mutex = std::make_unique<std::mutex>()](KernelContext& context) -> Error {
    ASSIGN_OR_RETURN(Tensor copy,
                     CopyTensor(context.input(0), nullptr, *from->stream, context.allocator()));
    // One run at a time uses the event. Other runs lose little time by waiting for the lock,
    // because the copies of all runs go through one stream.
    std::lock_guard lock(*mutex);
    RETURN_IF_ERROR(there->Record(*from->stream));
    RETURN_IF_ERROR(there->Wait());
    context.SetOutput(0, std::move(copy));
    return Error::success();
  };
}

Error CopyToHost(DeviceLane& lane, llvm::ArrayRef<Tensor> tensors,
                 llvm::SmallVectorImpl<Tensor>& copies) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.device()) {
      copies.push_back(tensor);
      continue;
    }
    ASSIGN_OR_RETURN(Tensor copy, CopyTensor(tensor, nullptr, *lane.stream, HeapAllocator()));
    copies.push_back(std::move(copy));
  }
  return lane.stream->Wait();
}

}  // namespace grapnel
