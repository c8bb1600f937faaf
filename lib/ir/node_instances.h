// Finds nodes by the short names in programs and logs, which do not contain the names of the
// enclosing calls.
#ifndef GRAPNEL_LIB_IR_NODE_INSTANCES_H_
#define GRAPNEL_LIB_IR_NODE_INSTANCES_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the nodes of `graph` that the node `name` of a function became: "call/name" if a call of
// the function was inlined. In the body of `function` (in the main graph if it is ""), also matches
// "name" and "function/name" themselves. Linear in nodes.
std::vector<Node> InstancesOf(const Graph& graph, llvm::StringRef function, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_INSTANCES_H_
