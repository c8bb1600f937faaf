// What a log says of graphs, as text.
#ifndef GRAPNEL_LIB_PLACE_LOG_TEXT_H_
#define GRAPNEL_LIB_PLACE_LOG_TEXT_H_

#include <string>

#include "lib/place/explanation.h"
#include "lib/place/log_reason.h"

namespace grapnel {

// How many nodes the log has, which of its lines these are, where it and the placement differ, and
// each node that it does not have as the graph has it, with the reason.
std::string LogText(const PlacementContext& context, const PlacementLog& log,
                    const LogOfGraph& logged, const GraphStory& story);
// The same without the tables of nodes.
std::string LogSummary(const PlacementContext& context, const PlacementLog& log,
                       const LogOfGraph& logged, const GraphStory& story);
// What else is in a log: how many nodes and eager ops of others, in one line; empty: nothing.
std::string OthersText(const LoggedDevices& logged);
// A row for each eager op and device; empty: none ran.
std::string EagerText(const PlacementLog& log);
// What cannot be read of it, a sentence each.
std::vector<std::string> LogProblems(const PlacementLog& log);

// A node's way, for an explanation: what it asked for, where the log has it, what passes did to it.
// `name` may be one that the graph has no longer; empty: neither log nor dumps know it.
std::string WayOfNode(const PlacementContext& context, const PlacementLog* log,
                      const LogOfGraph* logged, const GraphStory& story, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_TEXT_H_
