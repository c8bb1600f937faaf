// The checks of the verifier that have files of their own. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_VERIFY_PARTS_H_
#define GRAPNEL_LIB_IR_VERIFY_PARTS_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Checks the references to functions in all bodies: the function must exist and have the dtypes
// that a call, If, Case or While states, and recursion must go through an If, Case or While, since
// it never ends otherwise.
std::vector<Problem> CheckCalls(const Module& module);

// HasFrames: true if the graph has TF1 loops. EntersFrame: true for an Enter. CheckFrames: reports
// a node whose inputs do not all come from one frame, which TensorFlow's executor requires;
// constants and placeholders without control inputs may be read in any frame. The graph must have
// no cycles besides loops.
bool HasFrames(const Graph& graph);
bool EntersFrame(const Node& node);
void CheckFrames(const Graph& graph, llvm::function_ref<void(const Node&, std::string)> report);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_VERIFY_PARTS_H_
