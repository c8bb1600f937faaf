// Splits a placed graph into one graph for each device, connected by _Send and _Recv.
#ifndef GRAPNEL_LIB_PLACE_PARTITION_H_
#define GRAPNEL_LIB_PLACE_PARTITION_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/place/kernel_catalog.h"
#include "lib/support/public.h"

namespace grapnel {

// A value, or a control dependency, that is sent from one device to another by a pair of _Send and
// _Recv.
struct GRAPNEL_PUBLIC Transfer {
  std::string tensor_name;  // the attribute tensor_name of both nodes
  int from, to;             // indices of partitions
  NodeId source;            // the node in the original graph; kNoNode: a control loop's node
  int32_t port;             // kControlPort: a control dependency
  std::string send, recv;   // names in the two partitions
};

struct GRAPNEL_PUBLIC Partition {
  std::string device;
  // Main graph: the device's nodes, in an order in which all partitions could run their nodes one
  // by one. Library: the functions that these nodes reach.
  std::unique_ptr<Module> module;
};

struct GRAPNEL_PUBLIC PartitionedGraph {
  std::vector<Partition> partitions;  // sorted by device name
  std::vector<Transfer> transfers;    // in the order in which they were made
};

// Selects the part of the graph to split: the nodes that the fetches need, given the feeds. Without
// fetches, the whole graph.
struct GRAPNEL_PUBLIC PartitionScope {
  std::vector<Port> feeds;
  std::vector<Port> fetches;  // index 0 of a node without outputs: the node only runs
};

// Nodes, attributes and names are TensorFlow's, with two exceptions. The number in `tensor_name`
// ("edge_12_x") counts this graph's edges in the file's order, whereas TensorFlow counts edges in
// the order in which it created them; for the same reason, the numbers in the names of several
// control loops may be swapped. A value is sent once to each memory, however many nodes read it
// there; a reference is sent once for each reader. An edge between a GPU's memory and the host's
// memory gets a pair too (_HostSend, _HostRecv). A loop over several devices gets a control loop on
// each device (control_loops.h).
//
// Every node in the scope must have a full device name (the placer's). `module` provides attributes
// and constants, which are not copied if they are in the file's memory, so it must outlive the
// partitions; its graph is not changed. Cost: linear. Errors: such as a node in the scope without a
// full device name, or a loop over devices without LoopCond.
GRAPNEL_PUBLIC Expected<PartitionedGraph> PartitionByDevice(Module& module,
                                                            const KernelCatalog& kernels,
                                                            const PartitionScope& scope = {});

// Writes each partition's graph to `folder`, named as TensorFlow names the first dump of a
// partition: NAME_partition_DEVICE.0000.main.before_partition_passes.pbtxt, or .pb. Returns the
// files' names.
GRAPNEL_PUBLIC Expected<std::vector<std::string>> WritePartitions(const PartitionedGraph& graph,
                                                                  llvm::StringRef folder,
                                                                  llvm::StringRef name,
                                                                  bool binary = false);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PARTITION_H_
