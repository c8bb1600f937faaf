// What a loop needs to run on several devices: on each device that takes part, a small loop that
// turns with it and tells the receivers there in which iteration they are.
#ifndef GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_
#define GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"

namespace grapnel {

// The frames of TF1's loops (Enter ... Exit). Frame 0 is the graph itself.
struct LoopFrames {
  struct Frame {
    std::string name;  // Enter's attribute frame_name
    int parent = -1;
    NodeId enter = kNoNode;      // the first of its Enters
    NodeId condition = kNoNode;  // its LoopCond
  };
  std::vector<Frame> frames;
  std::vector<int> of;  // by node id; 0 for what is on a cycle that is no loop
};

LoopFrames FindLoopFrames(const Graph& graph, llvm::ArrayRef<NodeId> topological);

// Moves Switch and Exit to the device of what they read, Enter and NextIteration to that of their
// first reader, as TensorFlow does before it partitions: an edge inside a loop's machinery that
// crossed devices would stop it.
void ColocateControlFlow(Graph* graph);

// A control edge that means: this reader gets its remote inputs in the iterations of that Merge.
struct LoopPivot {
  NodeId merge = kNoNode;
  int edges = 0;  // as many as the reader has inputs of the loop from other devices
};

// Adds, for each device that an edge inside a loop comes to from another device, the loop that
// turns along: Const -> Enter -> Merge -> Switch(LoopCond) -> NextIteration -> Merge, under
// TensorFlow's names ("_cloop" + reader + "/_7"), nested as the loops are. Returns the pivot of
// each node that needs one, by id (the graph's new end). `new_name` makes a name that is not taken.
// An error when such a loop has no LoopCond.
Expected<std::vector<LoopPivot>> AddControlLoops(
    Graph* graph, const std::function<std::string(llvm::StringRef)>& new_name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_
