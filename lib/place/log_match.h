// Which lines of a log are those of a graph.
#ifndef GRAPNEL_LIB_PLACE_LOG_MATCH_H_
#define GRAPNEL_LIB_PLACE_LOG_MATCH_H_

#include <string>
#include <vector>

#include "lib/place/placement_log.h"

namespace grapnel {

// How well a graph of a log fits one of ours.
struct LogFit {
  size_t found = 0;          // nodes of that name
  size_t same_op = 0;        // of these, with that op
  size_t same_device = 0;    // of these, whose device in the graph is not another
  size_t missing = 0;        // lines without a node
  bool has_ends = false;     // every argument and result in the log is one of the graph's
  bool has_no_ends = false;  // and there is none
  bool is_named = false;     // the log says that it is this function
  bool is_exact = false;     // its nodes are those that a dump has that was placed
  int dumps_between = 0;     // where the log names dumps of it: from that one to ours
  bool is_other = false;     // the log says that it is another function
  bool IsOurs(const LogTarget& target, size_t lines) const;
  bool operator<(const LogFit& other) const;  // fits worse
};
LogFit FitOf(const LoggedGraph& logged, const LogTarget& target);

// What a log says of one graph.
struct LogOfGraph {
  std::vector<const LoggedNode*> of;       // by id; null: nothing
  std::vector<const LoggedGraph*> used;    // whose lines these are; of a session's, several
  std::vector<const LoggedNode*> gone;     // lines of these whose nodes are not in the graph
  std::vector<const LoggedGraph*> rivals;  // with the same nodes, that were not used
  size_t differing = 0;                    // nodes that one of the rivals has elsewhere
  enum Reason {
    kOnly,
    kName,
    kNodes,
    kDevices,
    kOrder
  } reason = kOnly;  // why these and not the rivals
  size_t found() const;
  // The device, "" where the log says nothing.
  llvm::StringRef DeviceOf(NodeId id) const { return of[id] ? of[id]->device : llvm::StringRef(); }
};

// What a log says of some graphs; points into the log.
struct LoggedDevices {
  std::vector<LogOfGraph> graphs;
  int64_t other_lines = 0;  // nodes of other graphs
  int64_t eager_ops = 0;    // that ran
};

// Finds each graph in a log of a whole program. Names decide: of graphs with the same nodes, the
// one whose function the log names, else the one whose devices fit those that the nodes have or
// ask for, else the first. A graph of the log belongs to one of ours; a session's graph, which is
// placed each time that something else is fetched, takes the lines of all that fit.
LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<LogTarget> targets);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_LOG_MATCH_H_
