#include "lib/job/logged_placement.h"

#include "lib/job/placement_history.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

Error PlaceAll(const OpenedGraph& opened, PlacedGraphs* placed) {
  ASSIGN_OR_RETURN(placed->main, PlaceView(placed->view, opened));
  ASSIGN_OR_RETURN(placed->calls, PlaceStayingCalls(placed->view, placed->main));
  return Error::success();
}

LogTarget MainTarget(const PlacedGraphs& placed, bool has_folder, const OpenedGraph& opened) {
  const Graph& graph = *placed.main.graph;
  if (!placed.view.function.empty()) return {&graph, placed.view.function};
  if (has_folder) return TargetOf(opened, graph);
  return {&graph, GraphNameOf(opened), DumpNumberOf(opened)};
}

std::vector<LogTarget> TargetsOf(const PlacedGraphs& placed, bool has_folder,
                                 const OpenedGraph& opened) {
  std::vector<LogTarget> targets;
  targets.push_back(MainTarget(placed, has_folder, opened));
  for (const PlacedCall& call : placed.calls) targets.push_back({call.placed.graph, call.function});
  return targets;
}

}  // namespace

std::string PlacedGraphs::Title(size_t graph) const {
  const PlacedCall& call = calls[graph - 1];
  return "function '" + call.function + "', called by '" + llvm::join(call.nodes, "', '") + "'";
}

Expected<PlacedGraphs> PlaceWithCalls(const OpenedGraph& opened, const PlaceRequest& request) {
  PlacedGraphs placed;
  ASSIGN_OR_RETURN(placed.view, OpenForPlacing(opened, request));
  RETURN_IF_ERROR(PlaceAll(opened, &placed));
  return std::move(placed);
}

const GraphStory& LoggedPlacement::story_of(size_t graph) const {
  static const GraphStory none;
  return graph == 0 ? story : none;
}

std::vector<std::string> LoggedPlacement::main() const {
  std::vector<std::string> devices_of;
  for (NodeId id = 0; log && id < devices.graphs[0].of.size(); ++id)
    devices_of.push_back(devices.graphs[0].DeviceOf(id).str());
  return devices_of;
}

Error PutLogOn(llvm::function_ref<Expected<PlacementLog>(llvm::ArrayRef<LogTarget>)> read,
               bool has_folder, OpenedGraph& opened, PlacedGraphs* placed,
               LoggedPlacement* logged) {
  std::vector<LogTarget> targets = TargetsOf(*placed, has_folder, opened);
  ASSIGN_OR_RETURN(logged->log, read(targets));
  logged->devices = PutOnGraphs(*logged->log, targets);
  if (!PutArguments(logged->devices.graphs[0], placed->view, opened)) return Error::success();
  RETURN_IF_ERROR(PlaceAll(opened, placed));
  logged->devices = PutOnGraphs(*logged->log, TargetsOf(*placed, has_folder, opened));
  return Error::success();
}

}  // namespace grapnel
