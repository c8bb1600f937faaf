// A job: places a graph with the functions that stay calls in it, and finds each node in a log of
// placements.
#ifndef GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_
#define GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/place.h"
#include "lib/place/log_reason.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The requested graph, which is graph 0, and the functions that stay calls in it.
struct PlacedGraphs {
  RuntimeView view;
  PlacedGraph main;
  std::vector<PlacedCall> calls;

  size_t size() const { return calls.size() + 1; }
  const PlacedGraph& of(size_t graph) const { return graph == 0 ? main : calls[graph - 1].placed; }
  // Of a call: "function 'f', called by 'a', 'b'".
  std::string Title(size_t graph) const;
};
// Errors: OpenForPlacing's. What cannot be placed says so itself.
Expected<PlacedGraphs> PlaceWithCalls(const OpenedGraph& opened, const PlaceRequest& request);

// What a log says of the graphs, and what dumps or a ledger say of the first.
struct LoggedPlacement {
  std::optional<PlacementLog> log;
  LoggedDevices devices;  // of each graph
  GraphStory story;

  // Null: there is no log.
  const LogOfGraph* of(size_t graph) const { return log ? &devices.graphs[graph] : nullptr; }
  const GraphStory& story_of(size_t graph) const;
  // By id of the first graph; none without a log.
  std::vector<std::string> main() const;
};

// Reads the log and finds the graphs in it. Arguments that were assumed go where the log has them,
// and all is placed again. `read`: gives the log, with what may be one of the graphs that it is
// given. `has_folder`: other dumps beside that of the graph may be read. Errors: those of `read`,
// OpenForPlacing's.
Error PutLogOn(llvm::function_ref<Expected<PlacementLog>(llvm::ArrayRef<LogTarget>)> read,
               bool has_folder, OpenedGraph& opened, PlacedGraphs* placed, LoggedPlacement* logged);

// Of an argument of PlacedGraphs::view.assumed.
constexpr const char* kAssumedText =
    "that is assumed: nothing tells where the caller has it; dumps from before_bridge on record it";

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LOGGED_PLACEMENT_H_
