// TensorFlow's log of placements: its lines made, and read back.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_

#include <map>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"

namespace grapnel {

// "name: (Op): /job:localhost/replica:0/task:0/device:CPU:0" and the end of the line.
void WritePlacementLogLine(const Node& node, llvm::StringRef device, llvm::raw_ostream& os);

// What a log of log_device_placement says.
struct PlacementLog {
  struct Line {
    std::string node, op, device;
    bool operator==(const Line&) const = default;
  };
  // Of each graph that was placed, in the log's order. A graph that is there twice (bare, and after
  // "placer.cc:NNN]") is kept once. Nothing in a log says where a graph ends: a name that comes
  // again, an argument after other nodes and an eager op begin the next.
  std::vector<std::vector<Line>> graphs;
  // Of eager ops ("Executing op X in device D"): how often each ran where, by (op, device).
  std::map<std::pair<std::string, std::string>, int> eager;
};

// Reads both formats; lines of any other kind are passed over. Errors name file and line: a device
// that is no full name.
Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path);

// What a log says of some graphs.
struct LoggedDevices {
  // By graph and id; empty where the log says nothing.
  std::vector<std::vector<std::string>> of;
  size_t other_lines = 0;  // nodes of other graphs
  size_t eager_ops = 0;    // that ran, where those do not count
};

// Finds the graphs in a log of a whole program: what the log has is one of them, or a piece of it,
// when at least half of its nodes are there with their ops and no larger one speaks of the same
// nodes. With `eager_counts` eager lines, which name ops only, count for nodes of that op in the
// first graph when all of them ran on one device and no other line speaks of the node.
LoggedDevices PutOnGraphs(const PlacementLog& log, llvm::ArrayRef<const Graph*> graphs,
                          bool eager_counts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
