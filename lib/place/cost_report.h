// Estimates what a placement would cost, on devices that need not exist: bytes over each link, how
// long each device works, and the critical path.
//
// The cost model. A node takes the longest of three times: its overhead (2 us on a CPU, 5 us on any
// other device), its arithmetic (lib/shape/flops.h) at the device's rate, and its inputs' and
// outputs' bytes at the rate of the device's memory, unless it moves no data (MovesNothing); if it
// then has no inputs either, it takes no time. Rates come from the cluster file; by default a CPU
// has 50 gigaflops and 20 GB/s, any other device 10 teraflops and 500 GB/s. A transferred tensor
// takes the link's latency and its bytes at the link's rate; a link that is not in the file has 10
// GB/s and 10 us within a task, 1.25 GB/s and 50 us between tasks. A device runs one node at a
// time, in topological order; a link sends one tensor at a time in each direction. A transfer costs
// nothing if both ends are in the memory of one host, except between two CPUs. A transfer between a
// device's own memory and the host's memory uses the link between the device and the CPU of its
// task. Loops run one iteration, both branches of a conditional run, a call costs its overhead and
// its tensors. Tensors of unknown size and unknown arithmetic cost nothing; the report counts the
// nodes that have them.
#ifndef GRAPNEL_LIB_PLACE_COST_REPORT_H_
#define GRAPNEL_LIB_PLACE_COST_REPORT_H_

#include <vector>

#include "lib/place/explanation.h"

namespace grapnel {

struct DeviceLoad {
  int nodes = 0;
  double seconds = 0;  // in which the device works
};

struct LinkLoad {
  int source = 0, target = 0;  // indices of devices
  int transfers = 0;
  int64_t bytes = 0;
  int unknown = 0;     // transfers of unknown size
  double seconds = 0;  // of all transfers, latency included
};

// A node of the critical path, and the reason for its start time.
struct PathStep {
  NodeId node;
  double start = 0, seconds = 0;
  double transfer = 0;      // seconds that the value from the previous step took to arrive
  bool was_queued = false;  // the node waited for its device, not for a value
};

struct CostReport {
  double seconds = 0;               // until the last node is done
  std::vector<DeviceLoad> devices;  // by device
  std::vector<LinkLoad> links;      // links in use, sorted by source and target
  std::vector<PathStep> path;       // from the first node to the last
  int unknown = 0;                  // nodes with unknown arithmetic or tensors of unknown size
};

// The placement must be complete. Linear in nodes and edges, plus shape inference.
CostReport MakeCostReport(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COST_REPORT_H_
