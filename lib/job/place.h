// A job: on which device each node of an opened graph runs.
#ifndef GRAPNEL_LIB_JOB_PLACE_H_
#define GRAPNEL_LIB_JOB_PLACE_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/place/explanation.h"
#include "lib/place/log_match.h"
#include "lib/place/settings.h"

namespace grapnel {

struct PlaceRequest {
  PlacerSettings settings;
  std::string function;  // its body, as for a call from the default device; empty: see signature
  // Of a SavedModel, the function that it runs; empty: the usual one. One that runs nodes of the
  // main graph stands for that graph.
  std::string signature;
  bool as_it_stands = false;  // nothing is opened: the main graph, or the function's body as it is
  // Variables of the signature are on the devices that the file names; tf.saved_model.load leaves
  // them on the default device unless it is asked for this.
  bool saved_variable_devices = false;
};

// What TensorFlow's runtime places of an opened graph: calls and control flow are opened before.
struct RuntimeView {
  std::unique_ptr<OpenedGraph> own;  // null: the graph that was opened, as it stands
  PlacerSettings settings;           // with the device that the function is called on
  std::string function;              // whose body it is; empty: the main graph
  // Arguments of which nothing says where they are, by name: they are taken to be on the device
  // that the function is called on, or in its host's memory.
  std::vector<std::string> assumed;

  OpenedGraph& graph(OpenedGraph& opened) const { return own ? *own : opened; }
  const OpenedGraph& graph(const OpenedGraph& opened) const { return own ? *own : opened; }
};
// Errors: the settings' (PlacerSetup::Make), no such function or signature. The graph has to be
// valid (CheckValid). Cost: a copy of the graph where something opens.
Expected<RuntimeView> OpenForPlacing(const OpenedGraph& opened, const PlaceRequest& request);

// Drops the devices in full that a placer has put on nodes, as if it had not come yet; requests
// ("/device:GPU:1") stay. Gives how many nodes had one.
int64_t DropPlacedDevices(OpenedGraph& opened);

// Puts the arguments that were assumed where a log has them, if that is one of the devices; whether
// any moved.
bool PutArguments(const LogOfGraph& logged, RuntimeView& view, OpenedGraph& opened);

// "the graph does not say where 'table' (_Arg, a variable) is: ..."; empty: nothing was assumed.
std::string AssumedText(const RuntimeView& view, const PlacementContext& context);

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

// The main graph as it is, or a function's body; changes nothing. Errors: the settings'
// (PlacerSetup::Make), no such function. The graph has to be valid (CheckValid).
Expected<PlacedGraph> PlaceGraph(const OpenedGraph& opened, const PlacerSettings& settings,
                                 llvm::StringRef function = {});

// A function that stayed a call, placed as it is when it is called.
struct PlacedCall {
  std::string function;            // as Grappler calls it, when it makes it for the call
  std::vector<std::string> nodes;  // that call it from the same place
  std::unique_ptr<OpenedGraph> opened;
  PlacedGraph placed;
};
// Those that a view's graph calls, and those that they call; each once for each place that it is
// called on. None where `placed` has failed, or the view is the opened graph as it stands. Errors:
// OpenForPlacing's.
Expected<std::vector<PlacedCall>> PlaceStayingCalls(const RuntimeView& view,
                                                    const PlacedGraph& placed);

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
                                                 const KernelCatalog& kernels,
                                                 const PlacementFiles& files,
                                                 const MessageSink& sink);

// Puts the devices of a log (by id, empty where it says nothing) on the graph, and writes it.
Error WriteLogged(OpenedGraph& opened, llvm::ArrayRef<std::string> logged, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLACE_H_
