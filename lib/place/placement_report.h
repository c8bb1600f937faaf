// What a placement costs: tensors that cross between devices or memories, CPU islands, memory.
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

// One tensor that is sent to another device, or within a device to the host's memory or from it,
// however many nodes read it there.
struct Transfer {
  Port from;
  NodeId reader;               // the first of them
  int source = 0, target = 0;  // devices
  // Where it lies at either end: in the host's memory, or in the device's. All of a CPU's is the
  // host's.
  bool from_host = false, to_host = false;
  bool is_copied = true;  // false: it stays in the host's memory (TensorWay::is_copied)
  int64_t bytes = -1;     // -1: the shape is not known
};

// Nodes on a CPU that are joined by data edges and lie between nodes of another type of device:
// every value that passes through is copied twice. What those nodes keep in the host's memory
// makes no island.
struct Island {
  std::vector<NodeId> nodes;  // by id
  int device = 0;
  int64_t bytes_in = 0, bytes_out = 0;  // that are copied, of tensors of known size
  // Those without a kernel on the device around, of its nodes and of what must share a device with
  // one, by id; empty: the island is there by request, or because of what it holds.
  std::vector<NodeId> pinned;
};

struct DeviceMemory {
  int64_t weights = 0;  // constants and variables
  int64_t peak = 0;     // most bytes of other tensors alive at once, when nodes run one after the
                        // other in order
  int unknown = 0;      // tensors and variables of unknown size, left out of both
};

struct PlacementReport {
  std::vector<Transfer> crossings;   // by source node, port and target
  std::vector<Island> islands;       // by their first node
  std::vector<DeviceMemory> memory;  // by device
  // By scope (what comes before the first '/'; "" for names without) and device: nodes.
  std::map<std::string, std::vector<int>> scopes;
};

// -1 when the shape is not known in full, or a tensor of the dtype has no fixed size (strings).
int64_t TensorBytes(DataType type, const Shape& shape);

// Of a complete placement. Shapes are inferred; dimensions that a placeholder leaves open make
// bytes unknown. Linear in nodes and edges beside that.
PlacementReport MakePlacementReport(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_REPORT_H_
