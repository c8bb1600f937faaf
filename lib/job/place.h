// A job: on which device each node of an opened graph runs.
#ifndef GRAPNEL_LIB_JOB_PLACE_H_
#define GRAPNEL_LIB_JOB_PLACE_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/place/explanation.h"
#include "lib/place/settings.h"

namespace grapnel {

struct PlaceRequest {
  PlacerSettings settings;
  std::string function;  // places its body, as for a call from the default device; empty: the graph
};

// A placement with all that it speaks of but the graph. Whether it could be placed at all is
// placement.failure.
struct PlacedGraph {
  const Graph* graph = nullptr;  // the opened graph's, which outlives this
  PlacerSetup setup;
  Placement placement;
  PlacementContext context() const {
    return {*graph, setup.devices, *setup.kernels, setup.options, placement};
  }
};

// Changes nothing. Errors: the settings' (PlacerSetup::Make), no such function. The graph has to
// be valid (DemandValid).
Expected<PlacedGraph> PlaceGraph(const OpenedGraph& opened, const PlaceRequest& request);

// "cpu:1,gpu:2 (soft)", with the default device and the kernels where those are not the usual ones.
std::string TitleOf(const PlacerSettings& settings);

// The settings with other devices ("cpu:4"), or with "hard" or "soft", or with both ("cpu:4,hard").
PlacerSettings WithChanges(PlacerSettings settings, llvm::StringRef changes);

// Where what comes of a placement goes; empty: nowhere.
struct PlacementFiles {
  std::string graph;        // .pb, .pbtxt or .gtxt, with the devices
  std::string partitions;   // a folder for the graph of each device
  std::string ledger;       // every node that was placed as a line of JSON
  std::string dump_folder;  // also where TF_DUMP_GRAPH_PREFIX says, if it does (lib/job/dump.h)
};

struct PartitionSize {
  std::string device;
  int64_t nodes = 0, sends = 0, receives = 0;
};

// Puts the devices on the main graph as a stage of the PassManager, so that it is dumped and
// recorded as any pass is, then splits it if that was asked for; gives the sizes of the parts.
// `kernels` are those that `settings` name (PlacedGraph::setup).
// Does nothing when nobody wants a file. Errors: the placer's and the partitioner's, files that
// cannot be written.
Expected<std::vector<PartitionSize>> WritePlaced(OpenedGraph& opened,
                                                 const PlacerSettings& settings,
                                                 const KernelCatalogue& kernels,
                                                 const PlacementFiles& files,
                                                 const MessageSink& sink);

// Puts the devices of a log (by id, empty where it says nothing) on the graph, and writes it.
Error WriteLogged(OpenedGraph& opened, llvm::ArrayRef<std::string> logged, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLACE_H_
