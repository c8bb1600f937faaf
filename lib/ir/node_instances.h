// Finds nodes by the short names in programs and logs, which lack the enclosing calls.
#ifndef GRAPNEL_LIB_IR_NODE_INSTANCES_H_
#define GRAPNEL_LIB_IR_NODE_INSTANCES_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the nodes of `graph` that a function's node became: "call/name" if the call was inlined.
// In the body of `function` (else ""), also matches "name" and "function/name" themselves. Linear
// in nodes.
std::vector<Node> InstancesOf(const Graph& graph, llvm::StringRef function, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_INSTANCES_H_
