// Which memory the values of a placed graph lie in: a device's own, or the host's.
#ifndef GRAPNEL_LIB_PLACE_MEMORY_TYPES_H_
#define GRAPNEL_LIB_PLACE_MEMORY_TYPES_H_

#include <string>
#include <vector>

#include "lib/place/explanation.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// TensorFlow's rule (MemoryTypesForNode): the kernel's host arguments, and always resources and
// strings, lie in the host's memory. A call of a function, or a While that stays one, has int32
// there instead, and so has what lacks a kernel. What the attributes _input_hostmem and
// _output_hostmem name lies there too. On a CPU this says what
// TensorFlow calls it; all of a CPU's memory is the host's.
//
// Keeps what it found: one instance for one graph and one placement of it.
class MemoryTypes {
 public:
  explicit MemoryTypes(const KernelCatalog& kernels) : kernels_(kernels) {}

  // `type` is the type of the node's device: "GPU". False of a slot or port that the node lacks.
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

// Whether two devices are in one process.
bool AreOfOneTask(const DeviceSet& devices, int a, int b);

// A tensor on the way from the node that makes it to one that reads it.
struct TensorWay {
  int source = 0, target = 0;               // devices
  bool from_host = false, to_host = false;  // whether it lies in the host's memory at either end
  // Bytes move. False where one end is what a device keeps in the memory of the host whose CPU, or
  // other device's part of it, is the other end.
  bool is_copied = false;

  bool Crosses() const { return source != target || from_host != to_host; }
};

// The same question of a graph that is placed. All memory of a CPU is the host's.
class PlacedMemory {
 public:
  explicit PlacedMemory(const PlacementContext& context)
      : context_(context), types_(context.kernels) {}

  // Of a data edge.
  TensorWay WayTo(const Use& reader);
  bool IsOnHost(Port output);
  // The device whose memory holds what is in the host's memory at `device`: the first CPU of its
  // task; -1: none is listed.
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
