// Writes a log's entries about graphs as text.
#ifndef GRAPNEL_LIB_PLACE_LOG_TEXT_H_
#define GRAPNEL_LIB_PLACE_LOG_TEXT_H_

#include <string>

#include "lib/place/explanation.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// Describes how many of the graph's nodes the log has, and in which lines, and how many of them
// differ from the placement; then lists the nodes on another device, and with the reasons the nodes
// that the log lacks or has otherwise.
std::string LogText(const PlacementContext& context, const PlacementLog& log,
                    const LogOfGraph& logged, const GraphStory& story);
// LogText without the tables of nodes.
std::string LogSummary(const PlacementContext& context, const PlacementLog& log,
                       const LogOfGraph& logged, const GraphStory& story);
// One line about the rest of a log: the number of lines of other graphs and of eager ops; empty if
// both are 0.
std::string OthersText(const LoggedDevices& logged);
// A table with a row for each eager op and device; empty if no op ran eagerly.
std::string EagerText(const PlacementLog& log);
// Describes the parts of a log that cannot be read, a sentence each.
std::vector<std::string> LogProblems(const PlacementLog& log);

// The history of one node for an explanation: its request, its device in the log or why the log
// does not have the node, the changes by passes. `name` may be a node that the graph no longer has.
// Empty if there is nothing to say.
std::string WayOfNode(const PlacementContext& context, const PlacementLog* log,
                      const LogOfGraph* logged, const GraphStory& story, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_TEXT_H_
