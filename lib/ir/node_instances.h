// Finds nodes by the short names that a program or a log has, without the calls around them.
#ifndef GRAPNEL_LIB_IR_NODE_INSTANCES_H_
#define GRAPNEL_LIB_IR_NODE_INSTANCES_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The nodes of `graph` that a node of a function became: "call/name" where the call was opened. In
// a graph that is the body of `function` (else ""), also "name" and "function/name" themselves.
// Cost: linear in nodes.
std::vector<Node> InstancesOf(const Graph& graph, llvm::StringRef function, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_INSTANCES_H_
