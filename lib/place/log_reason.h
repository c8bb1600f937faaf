// Why a log of placements does not have a node as a graph has it.
#ifndef GRAPNEL_LIB_PLACE_LOG_REASON_H_
#define GRAPNEL_LIB_PLACE_LOG_REASON_H_

#include <string>
#include <vector>

#include "lib/place/log_match.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// What became of a node, and by which pass: "folded to a constant by constant_folding".
struct NodeStory {
  std::string pass, text;
};

// What passes did to a graph before it was run, by the names of nodes. The code that reads dumps or
// a ledger fills it. Empty: nothing is known.
struct GraphStory {
  llvm::StringMap<NodeStory> here;  // of nodes that the graph has, and that were made or rewritten
  llvm::StringMap<NodeStory> gone;  // of nodes that it has no longer
  llvm::StringMap<std::string> asked;  // the device that a node asked for before it was placed
  std::string source;                  // "the dumps in DIR"; empty: there is none
};

// By id: for each node that the log does not have, has with another op or on another device than
// the graph says, what happened to it; with empty texts for the others.
std::vector<NodeStory> ReasonsOf(const Graph& graph, const LogOfGraph& logged,
                                 const PlacementLog& log, const GraphStory& story);

// Of a node of the log that the graph has no longer.
NodeStory ReasonOfGone(const LoggedNode& node, const GraphStory& story);

// Whether all nodes have devices in full: it was placed before.
bool IsPlaced(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_REASON_H_
