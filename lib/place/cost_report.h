// What a placement would take on devices that need not be there: bytes over each link, how long
// each device works, and the chain of nodes that the time is made of.
//
// The cost model. A node takes the longest of three: its overhead (2 us on a CPU, 5 us elsewhere),
// its arithmetic (lib/shape/flops.h) at the device's rate, and its inputs' and outputs' bytes,
// unless it only hands on what is there, at the rate of the device's memory. Rates are the cluster
// file's; else a CPU has 50 gigaflops and 20 GB/s, any other device 10 teraflops and 500 GB/s. A
// tensor that crosses takes the link's latency and its bytes at the link's rate; a link that the
// file does not tell of has 10 GB/s and 10 us within a task, 1.25 GB/s and 50 us between tasks. A
// device runs one node at a time, in topological order; a link sends one tensor at a time in each
// direction. What both ends keep in the memory of one host costs nothing; what a device reads of
// its own values in the host's memory, or the other way round, goes over its link to the CPU of its
// task. Loops turn once, both branches of a condition run, a call costs its overhead and its
// tensors. Tensors of unknown size cost nothing and are counted.
#ifndef GRAPNEL_LIB_PLACE_COST_REPORT_H_
#define GRAPNEL_LIB_PLACE_COST_REPORT_H_

#include <vector>

#include "lib/place/explanation.h"

namespace grapnel {

struct DeviceLoad {
  int nodes = 0;
  double seconds = 0;  // at work
};

struct LinkLoad {
  int source = 0, target = 0;  // devices
  int transfers = 0;
  int64_t bytes = 0;
  int unknown = 0;     // transfers of unknown size
  double seconds = 0;  // sending, latency included
};

// A node of the chain, and what it had waited for.
struct PathStep {
  NodeId node;
  double start = 0, seconds = 0;
  double transfer = 0;      // of that before `start`: on the way from the step before
  bool was_queued = false;  // the device was busy with the step before, no value was missing
};

struct CostReport {
  double seconds = 0;               // until the last node is through
  std::vector<DeviceLoad> devices;  // by device
  std::vector<LinkLoad> links;      // that are used, by source and target
  std::vector<PathStep> path;       // from the first node to the last
  int unknown = 0;                  // nodes some of whose tensors are of unknown size
};

// Of a complete placement. Linear in nodes and edges, beside shape inference.
CostReport MakeCostReport(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COST_REPORT_H_
