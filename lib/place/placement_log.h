// TensorFlow's log of placements: its lines made, and read back.
#ifndef GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
#define GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {

// "name: (Op): /job:localhost/replica:0/task:0/device:CPU:0" and the end of the line.
void WritePlacementLogLine(const Node& node, llvm::StringRef device, llvm::raw_ostream& os);

// One line of a log: a node that was placed.
struct LoggedNode {
  std::string node, op, device;  // `op` is empty where the log has none (0.12); `device` is full
  int64_t line = 0;              // its number, from 1
};

// A graph that was placed, as a log has it.
struct LoggedGraph {
  std::string name;             // of the function, as far as the log says
  int dump = -1;                // the number of the dump before it; -1: the log has none
  bool is_eager_op = false;     // an op that Python ran by itself
  bool is_prefixed = false;     // its lines have "placer.cc:NNN]" before them
  size_t stream = 0, turn = 0;  // which thread's, and the how many of that thread
  std::vector<LoggedNode> nodes;
  // "lines 31-40", "lines 31-40, of __inference_tower_29".
  std::string Text() const;
};

// A graph that is looked for in a log.
struct LogTarget {
  const Graph* graph;
  std::string name;  // of its function or dump; empty: not known
  int dump = -1;     // its number; -1: not known
  // Of the graphs with these nodes that the program placed, in order: which one it is, and how many
  // there are; 0: not known.
  size_t turn = 0, turns = 0;
  llvm::StringSet<> placed = {};  // the nodes that were placed, where a dump tells; else none
};

// What a log of log_device_placement says.
struct PlacementLog {
  std::string path;
  // Graphs that may be one of those looked for, in the log's order. A graph that is there twice
  // (bare, and after "placer.cc:NNN]") is kept once. Nothing in a log says where a graph ends: a
  // name that comes again, an argument after other nodes, a node with inputs after the constants
  // and an eager op begin the next.
  std::vector<LoggedGraph> graphs;
  // Of eager ops ("Executing op X in device D"): how often each ran where, by (op, device).
  std::map<std::pair<std::string, std::string>, int64_t> eager;
  int64_t node_lines = 0;                // of all graphs, those that are there twice counted once
  int64_t other_graphs = 0;              // that are not in `graphs`; without eager ops
  std::vector<std::string> other_names;  // of the first of these
  int64_t broken_lines = 0;              // that cannot be read
  std::vector<int64_t> broken;           // numbers of the first of these
  // The last line, where the log ends in the middle of it, and the node if that can be read.
  int64_t cut_line = 0;
  std::string cut_node;

  bool IsOfPlacement() const { return node_lines > 0 || !eager.empty(); }
};

// Reads logs of TensorFlow 0.12 to 2.21, of containers too (lib/place/log_line.h); lines of any
// other kind are passed over, those that cannot be read are counted. Keeps what may be one of
// `targets`; the memory that it takes does not grow with the log. Errors: the file's.
Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path, llvm::ArrayRef<LogTarget> targets);
// The same of a log in memory; `name`: what to call it.
PlacementLog ParsePlacementLog(llvm::StringRef name, llvm::StringRef log,
                               llvm::ArrayRef<LogTarget> targets);

// Every device that a line of a log names, in full, sorted, and CPU 0 of each task among them,
// which its program had, too. Reads all of the log.
std::vector<std::string> DevicesOfLog(llvm::StringRef log);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
