// Reports the costs of a placement: tensors that cross between devices or memories, CPU islands,
// memory.
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

// One tensor that is sent to another device, or between a device's memory and the host's; counted
// once for all readers there.
struct Transfer {
  Port from;
  NodeId reader;               // the first reader
  int source = 0, target = 0;  // devices
  // Whether it is in the host's memory at each end. All memory of a CPU is the host's.
  bool from_host = false, to_host = false;
  bool is_copied = true;  // false: it stays in the host's memory (TensorWay::is_copied)
  int64_t bytes = -1;     // -1: the shape is not known
};

// A group of CPU nodes, connected by data edges, between nodes of another device type: every value
// that passes through is copied twice. Nodes that keep their values in the host's memory do not
// form an island.
struct Island {
  std::vector<NodeId> nodes;  // by id
  int device = 0;
  int64_t bytes_in = 0, bytes_out = 0;  // copied bytes, of tensors of known size
  // The nodes without a kernel on the surrounding device, or that must share a device with one, by
  // id. Empty: the island was requested, or is there because of the resources it holds.
  std::vector<NodeId> pinned;
};

struct DeviceMemory {
  int64_t weights = 0;  // constants and variables
  int64_t peak = 0;     // most bytes of other tensors alive at once, if nodes run one by one in
                        // order
  int unknown = 0;      // tensors and variables of unknown size, left out of both
};

struct PlacementReport {
  std::vector<Transfer> crossings;   // by source node, port and target
  std::vector<Island> islands;       // by their first node
  std::vector<DeviceMemory> memory;  // by device
  // Numbers of nodes by scope (the part before the first '/'; "" for names without) and device.
  std::map<std::string, std::vector<int>> scopes;
};

// -1 if the shape is not fully known, or tensors of the dtype have no fixed size (strings).
int64_t TensorBytes(DataType type, const Shape& shape);

// The placement must be complete. Infers shapes; dimensions that a placeholder leaves open make
// bytes unknown. Linear in nodes and edges, plus shape inference.
PlacementReport MakePlacementReport(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_REPORT_H_
