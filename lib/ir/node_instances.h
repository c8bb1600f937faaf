// Finds nodes by the short names in programs and logs. Such a name lacks the names of the calls
// that contain the node, which inlining prepends.
#ifndef GRAPNEL_LIB_IR_NODE_INSTANCES_H_
#define GRAPNEL_LIB_IR_NODE_INSTANCES_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Finds the nodes of `graph` that come from the node `name` of a function: "call/NAME" where a call
// was inlined, or other names that end in "/NAME". In the body of `function`, also finds NAME
// itself, for which `name` may be "FUNCTION/NAME". For the main graph, `function` is "". Linear in
// nodes.
std::vector<Node> InstancesOf(const Graph& graph, llvm::StringRef function, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_INSTANCES_H_
