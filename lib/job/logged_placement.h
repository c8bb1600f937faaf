// A job: places a graph and the functions whose calls in it are not inlined, and finds each node in
// a placement log.
#ifndef GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_
#define GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/place.h"
#include "lib/place/log_reason.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The requested graph (graph 0), and the functions whose calls in it are not inlined.
struct PlacedGraphs {
  RuntimeView view;
  PlacedGraph main;
  std::vector<PlacedCall> calls;

  size_t size() const { return calls.size() + 1; }
  const PlacedGraph& of(size_t graph) const { return graph == 0 ? main : calls[graph - 1].placed; }
  // Returns "function 'f', called by 'a', 'b'" for a call.
  std::string Title(size_t graph) const;
};
// Errors: those of OpenForPlacing and PlaceGraph. A graph that cannot be placed is not an error:
// see Placement::failure.
Expected<PlacedGraphs> PlaceWithCalls(const OpenedGraph& opened, const PlaceRequest& request);

// The devices that a log records for the nodes of PlacedGraphs, and the history of graph 0 from
// dumps or a ledger.
struct LoggedPlacement {
  std::optional<PlacementLog> log;
  LoggedDevices devices;  // one entry per graph of PlacedGraphs
  GraphStory story;

  // Returns what the log records for a graph; null if there is no log.
  const LogOfGraph* of(size_t graph) const { return log ? &devices.graphs[graph] : nullptr; }
  const GraphStory& story_of(size_t graph) const;
  // Returns the logged devices of graph 0 by node id; empty without a log.
  std::vector<std::string> main() const;
};

// Reads the log and finds the graphs of PlacedGraphs in the log. Moves arguments with assumed
// devices to the devices in the log and, if any moved, places all graphs again. `read` returns the
// log; it gets the graphs to look for. `has_folder`: the graph is a dump in a folder, whose other
// dumps may be read to identify the graph in the log. Errors: those of `read` and PlaceWithCalls.
Error PutLogOn(llvm::function_ref<Expected<PlacementLog>(llvm::ArrayRef<LogTarget>)> read,
               bool has_folder, OpenedGraph& opened, PlacedGraphs* placed, LoggedPlacement* logged);

// The reason shown for the device of an argument in PlacedGraphs::view.assumed.
constexpr const char* kAssumedText =
    "assumed: the caller's device for it is unknown; dumps from before_bridge on record it";

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_
