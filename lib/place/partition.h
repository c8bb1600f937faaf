// Splits a placed graph into one graph a device, which talk through _Send and _Recv.
#ifndef GRAPNEL_LIB_PLACE_PARTITION_H_
#define GRAPNEL_LIB_PLACE_PARTITION_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/place/kernel_catalog.h"
#include "lib/support/public.h"

namespace grapnel {

// A value, or the end of a node, that goes from one device to another: one pair of _Send and _Recv.
struct GRAPNEL_PUBLIC Transfer {
  std::string tensor_name;  // the attribute that both have
  int from, to;             // partitions
  NodeId source;            // the node in the graph that was split; kNoNode: a loop's own
  int32_t port;             // kControlPort: that it has run
  std::string send, recv;   // names in the two partitions
};

struct GRAPNEL_PUBLIC Partition {
  std::string device;
  // Main graph: the nodes of the device, in an order in which all partitions could run theirs one
  // by one. Library: what they reach.
  std::unique_ptr<Module> module;
};

struct GRAPNEL_PUBLIC PartitionedGraph {
  std::vector<Partition> partitions;  // by device, as the names' letters order them
  std::vector<Transfer> transfers;    // in the order they were made
};

// What of the graph is split: what the fetches need when the feeds are given. No fetch: all of it.
struct GRAPNEL_PUBLIC PartitionScope {
  std::vector<Port> feeds;
  std::vector<Port> fetches;  // index 0 of a node without outputs: that it runs
};

// Nodes, attributes and names are TensorFlow's. The number in `tensor_name` ("edge_12_x") counts
// this graph's edges in the file's order, TensorFlow's in the order in which it made them; several
// control loops may have one another's numbers for the same reason. A value goes to a device once,
// however many read it there; where an edge of a GPU leads between its memory and the host's, a
// pair stands too (_HostSend, _HostRecv). A loop over several devices gets a control loop on each
// (control_loops.h).
//
// Every node must have a full device name (the placer's). `module` gives attributes and constants,
// which are not copied where they are the file's: it must outlive the partitions; its graph stays
// as it is. Cost: linear. Errors: a node without a device; a loop over devices without LoopCond.
GRAPNEL_PUBLIC Expected<PartitionedGraph> PartitionByDevice(Module& module,
                                                            const KernelCatalog& kernels,
                                                            const PartitionScope& scope = {});

// Writes each partition's graph to `folder`, named as TensorFlow names the first dump of a
// partition: NAME_partition_DEVICE.0000.main.before_partition_passes.pbtxt, or .pb. The files'
// names.
GRAPNEL_PUBLIC Expected<std::vector<std::string>> WritePartitions(const PartitionedGraph& graph,
                                                                  llvm::StringRef folder,
                                                                  llvm::StringRef name,
                                                                  bool binary = false);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PARTITION_H_
