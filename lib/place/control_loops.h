// Adds control loops, with which a loop can run on several devices: on each participating device, a
// small loop runs the same iterations and starts that device's _Recv nodes in each of them.
#ifndef GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_
#define GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"

namespace grapnel {

// The frames of TF1's loops (Enter ... Exit). Frame 0 is the graph outside of all loops.
struct LoopFrames {
  struct Frame {
    std::string name;  // attribute frame_name of the loop's Enter nodes
    int parent = -1;
    NodeId enter = kNoNode;      // the first of the loop's Enter nodes
    NodeId condition = kNoNode;  // the loop's LoopCond
  };
  std::vector<Frame> frames;
  std::vector<int> of;  // frame by node id; 0 also on a cycle that is not a loop
};

LoopFrames FindLoopFrames(const Graph& graph, llvm::ArrayRef<NodeId> topological);

// Moves Switch and Exit to the device of their input, Enter and NextIteration to the device of
// their first reader, as TensorFlow does before partitioning: a loop hangs if an edge between these
// nodes crosses devices.
void ColocateControlFlow(Graph* graph);

// The Merge of a control loop that starts, in each iteration, the _Recv nodes of one reader.
struct LoopPivot {
  NodeId merge = kNoNode;
  int edges = 0;  // the number of the reader's inputs from other devices
};

// Adds a control loop on each device that an edge inside a loop enters from another device: Const
// -> Enter -> Merge -> Switch(LoopCond) -> NextIteration -> Merge, with TensorFlow's names
// ("_cloop" + reader + "/_7"), nested like the original loops. Returns the pivot of each node that
// needs one, by id (up to the graph's new end). `new_name` makes unused names. Error if a loop that
// an edge enters has no LoopCond.
Expected<std::vector<LoopPivot>> AddControlLoops(
    Graph* graph, const std::function<std::string(llvm::StringRef)>& new_name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_CONTROL_LOOPS_H_
