// Explains why a log of placements differs from a graph.
#ifndef GRAPNEL_LIB_PLACE_LOG_REASON_H_
#define GRAPNEL_LIB_PLACE_LOG_REASON_H_

#include <string>
#include <vector>

#include "lib/place/log_match.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The fate of a node, and the pass that caused it: "folded to a constant by constant_folding".
struct NodeStory {
  std::string pass, text;
};

// Effects of passes on a graph before it ran, by node name. Filled by the code that reads dumps or
// a ledger; empty: unknown.
struct GraphStory {
  llvm::StringMap<NodeStory> here;     // created or rewritten nodes of the graph
  llvm::StringMap<NodeStory> gone;     // nodes that the graph no longer has
  llvm::StringMap<std::string> asked;  // requested devices before placing, by node name
  std::string source;                  // "the dumps in DIR"; empty: no source
};

// Returns, by node id, the reasons why the log lacks the node or has it with another op or on
// another device than the graph; empty texts for nodes without such a difference.
std::vector<NodeStory> ReasonsOf(const Graph& graph, const LogOfGraph& logged,
                                 const PlacementLog& log, const GraphStory& story);

// Returns the reason why the graph no longer has this node of the log.
NodeStory ReasonOfGone(const LoggedNode& node, const GraphStory& story);

// True if all nodes have full device names, so the graph was already placed.
bool IsPlaced(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_REASON_H_
