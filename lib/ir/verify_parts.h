// The checks of the verifier that other files implement. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_VERIFY_PARTS_H_
#define GRAPNEL_LIB_IR_VERIFY_PARTS_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Checks calls: missing functions, calls with dtypes other than the function's, and recursion
// without an If, Case or While in between.
std::vector<Problem> CheckCalls(const Module& module);

// HasFrames: true if the graph has TF1 loops. CheckFrames: checks their frames: a node's inputs
// must come from the frame that the node runs in, as TensorFlow's executor requires. Constants and
// placeholders belong to every frame. The graph must have no cycle besides loops.
bool HasFrames(const Graph& graph);
bool EntersFrame(const Node& node);
void CheckFrames(const Graph& graph, llvm::function_ref<void(const Node&, std::string)> report);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_PARTS_H_
