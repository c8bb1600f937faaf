// Parts of the verifier with a file of their own. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_VERIFY_PARTS_H_
#define GRAPNEL_LIB_IR_VERIFY_PARTS_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Calls: functions that are missing, calls with other dtypes than the function's, and recursion
// without an If, Case or While between.
std::vector<Problem> CheckCalls(const Module& module);

// Loops of single nodes: what a node reads must be of the frame that it runs in, as TensorFlow's
// executor demands. Constants and placeholders are of every frame. For a graph without a cycle.
bool HasFrames(const Graph& graph);
bool EntersFrame(const Node& node);
void CheckFrames(const Graph& graph, llvm::function_ref<void(const Node&, std::string)> report);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_PARTS_H_
