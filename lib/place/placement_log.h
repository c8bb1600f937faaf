// Writes and reads TensorFlow's log of placements.
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

// Writes "name: (Op): /job:localhost/replica:0/task:0/device:CPU:0" and a line end.
void WritePlacementLogLine(llvm::StringRef node, llvm::StringRef op, llvm::StringRef device,
                           llvm::raw_ostream& os);

// One line of a log: a placed node.
struct LoggedNode {
  std::string node, op, device;  // `op` is empty in logs of TensorFlow 0.12; `device` is full
  int64_t line = 0;              // the line's number, from 1
};

// A placed graph of a log.
struct LoggedGraph {
  std::string name;             // the name of the function, if the log gives it
  int dump = -1;                // the number of the dump logged before the graph; -1: no dump
  bool is_eager_op = false;     // an op that Python ran eagerly
  bool is_prefixed = false;     // "placer.cc:NNN]" precedes each of its lines
  size_t stream = 0, turn = 0;  // the thread, and the graph's index on that thread
  std::vector<LoggedNode> nodes;
  // Describes where the graph is: "lines 31-40", "lines 31-40, of __inference_tower_29".
  std::string Text() const;
};

// A graph to look for in a log.
struct LogTarget {
  const Graph* graph;
  std::string name;  // the name of the graph's function or dump; empty: unknown
  int dump = -1;     // the dump's number; -1: unknown
  // The program placed `turns` graphs with the same nodes, of which this is number `turn`, from 0.
  // `turns` is 0 if unknown.
  size_t turn = 0, turns = 0;
  llvm::StringSet<> placed = {};  // the nodes that were placed, from a dump; else empty
};

// The contents of a log of log_device_placement.
struct PlacementLog {
  std::string path;
  // Graphs that may match a target, in the log's order. A graph that is logged twice (bare, and
  // after "placer.cc:NNN]") is kept once. A log does not mark the end of a graph: the next one
  // begins at a repeated name, an argument after other nodes, in a function at a node with inputs
  // after the constants, after a line about an eager op or a dumped graph, or when there are too
  // many nodes or threads.
  std::vector<LoggedGraph> graphs;
  // How often each eager op ("Executing op X in device D") ran on each device, by (op, device).
  std::map<std::pair<std::string, std::string>, int64_t> eager;
  int64_t node_lines = 0;                // of all graphs; a graph that is logged twice counts once
  int64_t other_graphs = 0;              // graphs that are not kept, without eager ops
  std::vector<std::string> other_names;  // names of a few of these graphs
  int64_t broken_lines = 0;              // unreadable lines
  std::vector<int64_t> broken;           // numbers of the first few unreadable lines
  // The last line, if the log ends in the middle of it, and its node if that can be read.
  int64_t cut_line = 0;
  std::string cut_node;

  bool IsOfPlacement() const { return node_lines > 0 || !eager.empty(); }
};

// Reads logs of TensorFlow 0.12 to 2.21, also as stored by containers (lib/place/log_line.h).
// Ignores other lines and counts unreadable ones. Keeps graphs that may match one of `targets`.
// Memory use is limited, whatever the length of the log. Errors: the file cannot be read.
Expected<PlacementLog> ReadPlacementLog(llvm::StringRef path, llvm::ArrayRef<LogTarget> targets);
// As ReadPlacementLog, for a log in memory; `name`: the log's name for messages.
PlacementLog ParsePlacementLog(llvm::StringRef name, llvm::StringRef log,
                               llvm::ArrayRef<LogTarget> targets);

// Returns every device in the whole lines of a log, in full and sorted, plus CPU 0 of each task,
// which every program has. Reads the whole log.
std::vector<std::string> DevicesOfLog(llvm::StringRef log);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACEMENT_LOG_H_
