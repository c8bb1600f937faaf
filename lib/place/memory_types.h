// Finds whether values of a placed graph are in a device's own memory or in the host's.
#ifndef GRAPNEL_LIB_PLACE_MEMORY_TYPES_H_
#define GRAPNEL_LIB_PLACE_MEMORY_TYPES_H_

#include <string>
#include <vector>

#include "lib/place/explanation.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// TensorFlow's rule (MemoryTypesForNode): the kernel's host arguments, and always resources and
// strings, are in the host's memory. For a function call, a SymbolicGradient, an unlowered While,
// and an op without a kernel, int32 values are in the host's memory instead of host arguments. So
// are the ports listed in the attributes _input_hostmem and _output_hostmem. The answers follow
// this rule for a CPU too, although all of a CPU's memory is the host's.
//
// Caches results: use one instance for one graph and one placement of it.
class MemoryTypes {
 public:
  explicit MemoryTypes(const KernelCatalog& kernels) : kernels_(kernels) {}

  // `type` is the type of the node's device: "GPU". False if the node lacks the slot or port.
  bool IsInputOnHost(const Node& node, int slot, llvm::StringRef type);
  bool IsOutputOnHost(const Node& node, int port, llvm::StringRef type);

 private:
  struct OnHost {
    std::vector<bool> inputs, outputs;
  };
  const OnHost& Of(const Node& node, llvm::StringRef type);
  OnHost Make(const Node& node, llvm::StringRef type) const;

  const KernelCatalog& kernels_;
  llvm::DenseMap<NodeId, OnHost> found_;
};

// True if two devices are in the same task, and so in one process.
bool AreOfOneTask(const DeviceSet& devices, int a, int b);

// A tensor's path from the node that makes it to a node that reads it.
struct TensorWay {
  int source = 0, target = 0;  // indices of devices
  // Whether the tensor is in the host's memory at each end.
  bool from_host = false, to_host = false;
  // True if the tensor's bytes are copied. False if it stays where it is, or if both ends are in
  // the memory of one host and at least one of the two devices is not a CPU.
  bool is_copied = false;

  bool Crosses() const { return source != target || from_host != to_host; }
};

// Finds whether values of a placed graph are in the host's memory. All memory of a CPU is the
// host's.
class PlacedMemory {
 public:
  explicit PlacedMemory(const PlacementContext& context)
      : context_(context), types_(context.kernels) {}

  // The path of the tensor on a data edge.
  TensorWay WayTo(const Use& reader);
  bool IsOnHost(Port output);
  // The device that owns the host memory of `device`: the first CPU of its task; -1 if none is
  // listed.
  int HostOf(int device) const;

 private:
  llvm::StringRef TypeOf(int device) const {
    return context_.devices.device(device).name.type.text();
  }

  const PlacementContext& context_;
  MemoryTypes types_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_MEMORY_TYPES_H_
