// TensorFlow's log of placements: its lines made, and read back.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_

#include <map>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"

namespace grapnel {

// "name: (Op): /job:localhost/replica:0/task:0/device:CPU:0", without the end of the line.
std::string PlacementLogLine(const Node& node, llvm::StringRef device);

// What a log of log_device_placement says.
struct PlacementLog {
  struct Line {
    int number = 0;  // in the file, from 1
    std::string node, op, device;
  };
  // Of graphs, in the log's order; a line that is there twice (bare, and after "placer.cc:NNN]") is
  // kept once.
  std::vector<Line> nodes;
  // Of eager ops ("Executing op X in device D"): how often each ran where, by (op, device).
  std::map<std::pair<std::string, std::string>, int> eager;
};

// Reads both formats; lines of any other kind are passed over. Errors name file and line: a device
// that is no full name.
Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path);

// The device that the log gives each node of `graph`, by id; empty where it says nothing. A line
// whose name is no node's, or whose op is another, is an error that names file, line and node.
// Eager lines name ops only: they count for nodes of that op when all of them ran on one device,
// and no other line speaks of the node.
Expected<std::vector<std::string>> PutOnGraph(const PlacementLog& log, llvm::StringRef path,
                                              const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
