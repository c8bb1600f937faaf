// Finds the lines of a log that belong to given graphs.
#ifndef GRAPNEL_LIB_PLACE_LOG_MATCH_H_
#define GRAPNEL_LIB_PLACE_LOG_MATCH_H_

#include <string>
#include <vector>

#include "lib/place/placement_log.h"

namespace grapnel {

// The degree to which a graph of the log matches a target graph.
struct LogFit {
  size_t found = 0;          // lines whose node name the graph has
  size_t same_op = 0;        // of these, lines with the same op
  size_t same_device = 0;    // of these, lines with a compatible device
  size_t missing = 0;        // lines whose node name the graph lacks
  bool has_ends = false;     // all arguments and results in the log are in the graph
  bool has_no_ends = false;  // the log has no arguments or results
  bool is_named = false;     // the log names this function
  bool is_exact = false;     // its nodes are exactly those of LogTarget::placed
  int dumps_between = 0;     // if the log names a dump: dumps from it to the target;
                             // INT_MAX if it is after the target
  bool is_other = false;     // the log names another function
  bool IsOurs(const LogTarget& target, size_t lines) const;
  bool operator<(const LogFit& other) const;  // true if this fits worse
};
LogFit FitOf(const LoggedGraph& logged, const LogTarget& target);

// The log entries for one graph.
struct LogOfGraph {
  std::vector<const LoggedNode*> of;     // by node id; null: not in the log
  std::vector<const LoggedGraph*> used;  // logged graphs that `of` is from, the best first
  std::vector<const LoggedNode*> gone;   // lines of `used` for nodes that the graph lacks
  // Logged graphs that may be meant instead of the first of `used`: those in which at least nine
  // tenths as many nodes were found.
  std::vector<const LoggedGraph*> rivals;
  size_t differing = 0;  // nodes that a rival has on another device
  enum Reason {
    kOnly,
    kName,
    kNodes,
    kDevices,
    kOrder
  } reason = kOnly;  // the criterion that preferred `used` to the rivals
  size_t found() const;
  // The node's device in the log; "" if the log lacks the node.
  llvm::StringRef DeviceOf(NodeId id) const { return of[id] ? of[id]->device : llvm::StringRef(); }
};

// The log entries for several graphs, by target; they point into the PlacementLog, which must
// outlive them.
struct LoggedDevices {
  std::vector<LogOfGraph> graphs;
  int64_t other_lines = 0;  // lines for nodes of other graphs
  int64_t eager_ops = 0;    // runs of eager ops
};

// Finds each target's graph in the log of a whole program, by the names of nodes. Among logged
// graphs with the same nodes, chooses the one that the log says is the target's function, else the
// one whose devices are compatible with the nodes' devices or requests, else goes by their order. A
// logged graph belongs to one target only. A session places its graph again for each set of
// fetches, so such a target uses the lines of all logged graphs that match it.
LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<LogTarget> targets);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_MATCH_H_
