// A job: computes the device of each node of an opened graph.
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
  // The function to place, as if called from the default device; empty: see `signature`.
  std::string function;
  // In a SavedModel, the signature whose function to place; empty: the default signature. If the
  // signature calls no function but runs nodes of the main graph, places the main graph.
  std::string signature;
  bool as_it_stands = false;  // no inlining: the main graph or the function's body, unchanged
  // True if variables of the signature are on the devices that the file records;
  // tf.saved_model.load leaves them on the default device unless it is asked to use these.
  bool saved_variable_devices = false;
};

// The graph that TensorFlow's runtime places, after it has inlined calls and lowered control flow.
struct RuntimeView {
  std::unique_ptr<OpenedGraph> own;  // null: the opened graph, unchanged
  PlacerSettings settings;           // including the device that the function is called on
  std::string function;              // the function whose body the graph is; empty: the main graph
  // Names of arguments whose device is unknown: they are assumed to be on the device that the
  // function is called on, or in the memory of that device's host.
  std::vector<std::string> assumed;
  // The bytes of the variables that arguments of `own` refer to, by node: PlacementContext.
  std::map<NodeId, int64_t> variables;
  // Set for a signature that calls no function: the graph is the main graph, and the signature
  // needs only a part of it.
  std::optional<Signature> signature;

  OpenedGraph& graph(OpenedGraph& opened) const { return own ? *own : opened; }
  const OpenedGraph& graph(const OpenedGraph& opened) const { return own ? *own : opened; }
};
// Errors: those of the settings (PlacerSetup::Make); no such signature; those of OpenForPlacing in
// lib/place/runtime_graph.h. The graph must be valid (CheckValid). Cost: a copy of the graph if
// anything is inlined or lowered.
Expected<RuntimeView> OpenForPlacing(const OpenedGraph& opened, const PlaceRequest& request);

// Removes the full device names that a placer assigned to nodes; requests ("/device:GPU:1") stay.
// Returns the number of nodes that had an assigned device.
int64_t DropPlacedDevices(OpenedGraph& opened);

// Moves arguments with an assumed device to the device that a log has for them, if `view` has such
// a device. Returns true if any moved.
bool PutArguments(const LogOfGraph& logged, RuntimeView& view, OpenedGraph& opened);

// Returns a sentence that lists the arguments in `view.assumed` and says where they are assumed to
// be; "" if there are none.
std::string AssumedText(const RuntimeView& view, const PlacementContext& context);

// A placement, with everything that the placement refers to except the graph. placement.failure is
// set if placing failed.
struct PlacedGraph {
  const Graph* graph = nullptr;  // owned by the opened graph, which outlives this
  PlacerSetup setup;
  Placement placement;
  std::map<NodeId, int64_t> variables;  // as in RuntimeView
  std::vector<bool> counted;            // PlacementContext::counted; empty: all
  PlacementContext context() const {
    return {*graph,
            setup.devices,
            *setup.kernels,
            setup.options,
            placement,
            &variables,
            counted.empty() ? nullptr : &counted};
  }
};

// Places the main graph as it is, or a function's body; changes nothing. Errors: those of the
// settings (PlacerSetup::Make); no such function. The graph must be valid (CheckValid).
Expected<PlacedGraph> PlaceGraph(const OpenedGraph& opened, const PlacerSettings& settings,
                                 llvm::StringRef function = {});

// Places the view of `opened`.
Expected<PlacedGraph> PlaceView(const RuntimeView& view, const OpenedGraph& opened);

// A function whose calls are not inlined. TensorFlow places its body when it is called.
struct PlacedCall {
  std::string function;            // the name of Grappler's copy for the call, if it makes one
  std::vector<std::string> nodes;  // the nodes that call it on the same device
  std::unique_ptr<OpenedGraph> opened;
  PlacedGraph placed;
};
// Places the functions that a view's graph calls, directly or through other functions: each
// function once for each combination of attributes, device and argument devices with which it is
// called. Returns an empty vector if `placed` failed, or if the view is the unchanged opened graph.
// Errors: those of OpenForPlacing.
Expected<std::vector<PlacedCall>> PlaceStayingCalls(const RuntimeView& view,
                                                    const PlacedGraph& placed);

// Returns "cpu:1,gpu:2 (soft)", plus the default device and the kernels if these are not the usual
// ones.
std::string TitleOf(const PlacerSettings& settings);

// Returns the settings with other devices ("cpu:4"), with "hard" or "soft", or with both
// ("cpu:4,hard").
PlacerSettings WithChanges(PlacerSettings settings, llvm::StringRef changes);

// The files to write a placement to; empty: not written.
struct PlacementFiles {
  std::string graph;        // .pb, .pbtxt or .gtxt, with the devices
  std::string partitions;   // a directory for the graph of each device
  std::string ledger;       // every placed node as a line of JSON
  std::string dump_folder;  // else TF_DUMP_GRAPH_PREFIX, if set (lib/job/dump.h)
};

struct PartitionSize {
  std::string device;
  int64_t nodes = 0, sends = 0, receives = 0;
};

// Writes the devices into the main graph as a stage of the PassManager, so that the placement is
// dumped and recorded like any pass, then splits the graph if requested. Returns the sizes of the
// partitions, if the graph is split. `kernels` are those that `settings` names
// (PlacedGraph::setup). Does nothing if no file is requested and TF_DUMP_GRAPH_PREFIX is not set.
// Errors: the placer's and the partitioner's; those of AddDump; files that cannot be written.
Expected<std::vector<PartitionSize>> WritePlaced(OpenedGraph& opened,
                                                 const PlacerSettings& settings,
                                                 const KernelCatalog& kernels,
                                                 const PlacementFiles& files,
                                                 const MessageSink& sink);

// Sets the devices of a log (by node id, empty if unknown) on the graph, and writes it.
Error WriteLogged(OpenedGraph& opened, llvm::ArrayRef<std::string> logged, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLACE_H_
