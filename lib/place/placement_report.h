// Reports the costs of a placement: tensors that cross between devices or memories, islands (CPU
// nodes amid nodes of another device), memory.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_REPORT_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/ir/shape.h"
#include "lib/ir/types.h"
#include "lib/place/explanation.h"

namespace grapnel {

// One tensor that is sent to another device, or between a device's memory and the host's memory;
// counted once for all readers that read it in the same memory.
struct DeviceTransfer {
  Port from;
  NodeId reader;               // the first reader
  int source = 0, target = 0;  // indices of devices
  // Whether the tensor is in the host's memory at each end. All memory of a CPU is the host's.
  bool from_host = false, to_host = false;
  bool is_copied = true;  // false: the tensor stays in the host's memory (TensorWay::is_copied)
  int64_t bytes = -1;     // -1: unknown shape
};

// A group of CPU nodes, connected by data edges, between nodes of another device type: every value
// that passes through is copied twice. Nodes that keep their values in the host's memory do not
// form an island.
struct Island {
  std::vector<NodeId> nodes;  // by id
  int device = 0;
  int64_t bytes_in = 0, bytes_out = 0;  // copied bytes, of tensors of known size
  // The nodes that keep the island on the CPU, by id: they have no kernel on any surrounding device
  // type, and are in the island or must share a device with one of its nodes. If empty, nodes of
  // the island request the CPU or hold resources there.
  std::vector<NodeId> pinned;
};

struct DeviceMemory {
  int64_t weights = 0;  // constants and variables
  int64_t peak = 0;     // most bytes of other tensors alive at once, if nodes run one by one in
                        // order
  int unknown = 0;      // tensors and variables of unknown size; not in the other counts
};

struct PlacementReport {
  std::vector<DeviceTransfer> crossings;  // sorted by source node, port and target
  std::vector<Island> islands;            // sorted by their first node
  std::vector<DeviceMemory> memory;       // by device
  // Node counts by scope (the name's part before the first '/'; "" without '/') and device.
  std::map<std::string, std::vector<int>> scopes;
};

// Returns the bytes of a variable, by the dtype and shape of its node; -1 if they are not known.
int64_t BytesOfVariable(const Node& variable);

// Returns the size of a tensor in bytes; -1 if the shape is not fully known or is too large, or
// elements of the dtype have no fixed size (strings).
int64_t TensorBytes(DataType type, const Shape& shape);

// The placement must be complete. Infers shapes; if a placeholder leaves dimensions open, the sizes
// that depend on them are unknown. Linear in nodes and edges, plus shape inference.
PlacementReport MakePlacementReport(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_REPORT_H_
