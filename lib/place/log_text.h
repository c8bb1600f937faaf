// Writes what a log has about graphs as text.
#ifndef GRAPNEL_LIB_PLACE_LOG_TEXT_H_
#define GRAPNEL_LIB_PLACE_LOG_TEXT_H_

#include <string>

#include "lib/place/explanation.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// How many nodes the log has and in which lines, where it differs from the placement, and each node
// that differs, with the reason.
std::string LogText(const PlacementContext& context, const PlacementLog& log,
                    const LogOfGraph& logged, const GraphStory& story);
// The same without the tables of nodes.
std::string LogSummary(const PlacementContext& context, const PlacementLog& log,
                       const LogOfGraph& logged, const GraphStory& story);
// One line about the rest of a log: how many nodes and eager ops of other graphs it has; empty:
// none.
std::string OthersText(const LoggedDevices& logged);
// A row for each eager op and device; empty: no op ran eagerly.
std::string EagerText(const PlacementLog& log);
// Describes the parts of a log that cannot be read, a sentence each.
std::vector<std::string> LogProblems(const PlacementLog& log);

// The history of one node for an explanation: its request, its device in the log, what passes did
// to it. `name` may be a node that the graph no longer has. Empty: neither log nor dumps have it.
std::string WayOfNode(const PlacementContext& context, const PlacementLog* log,
                      const LogOfGraph* logged, const GraphStory& story, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_TEXT_H_
