// Matches the lines of a log with graphs.
#ifndef GRAPNEL_LIB_PLACE_LOG_MATCH_H_
#define GRAPNEL_LIB_PLACE_LOG_MATCH_H_

#include <string>
#include <vector>

#include "lib/place/placement_log.h"

namespace grapnel {

// How well a graph of the log fits a target graph.
struct LogFit {
  size_t found = 0;          // nodes of that name
  size_t same_op = 0;        // of these, with that op
  size_t same_device = 0;    // of these, whose device in the graph is compatible
  size_t missing = 0;        // lines without a node
  bool has_ends = false;     // all arguments and results in the log are in the graph
  bool has_no_ends = false;  // the log has no arguments and results
  bool is_named = false;     // the log names this function
  bool is_exact = false;     // its nodes are those of the dump of the placed graph
  int dumps_between = 0;     // if the log names a dump: dumps from that one to the target
  bool is_other = false;     // the log names another function
  bool IsOurs(const LogTarget& target, size_t lines) const;
  bool operator<(const LogFit& other) const;  // true if this fits worse
};
LogFit FitOf(const LoggedGraph& logged, const LogTarget& target);

// The log entries for one graph.
struct LogOfGraph {
  std::vector<const LoggedNode*> of;       // by id; null: not in the log
  std::vector<const LoggedGraph*> used;    // the source of the lines; several for a session's graph
  std::vector<const LoggedNode*> gone;     // their lines for nodes that the graph lacks
  std::vector<const LoggedGraph*> rivals;  // with the same nodes, but not used
  size_t differing = 0;                    // nodes that a rival has on another device
  enum Reason {
    kOnly,
    kName,
    kNodes,
    kDevices,
    kOrder
  } reason = kOnly;  // why `used` and not the rivals
  size_t found() const;
  // The device, "" if the log has none.
  llvm::StringRef DeviceOf(NodeId id) const { return of[id] ? of[id]->device : llvm::StringRef(); }
};

// The log entries for some graphs; points into the log.
struct LoggedDevices {
  std::vector<LogOfGraph> graphs;
  int64_t other_lines = 0;  // nodes of other graphs
  int64_t eager_ops = 0;    // ops that ran eagerly
};

// Finds each graph in the log of a whole program. Names decide. Of graphs with the same nodes,
// takes the one whose function the log names, else the one whose devices fit the nodes' devices or
// requests, else the first. A graph of the log belongs to one target only. A session's graph, which
// is placed again for each set of fetches, takes the lines of all graphs that fit.
LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<LogTarget> targets);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_MATCH_H_
