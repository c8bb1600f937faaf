// Puts the nodes of a function in the place of a call of it.
#ifndef GRAPNEL_LIB_FUNCTION_INLINING_H_
#define GRAPNEL_LIB_FUNCTION_INLINING_H_

#include <string>

#include "lib/function/function_rewriter.h"

namespace grapnel {

// Why the nodes may not take the call's place, without changing what the graph computes; empty:
// they may. Cost: linear in the function's body, and in those that it calls.
std::string WhyNotInline(const FunctionRewriter& rewriter, const Node& call, const Call& callee);

// Does it, inside a rewrite. Nodes are named after the call, and so are their loop frames and
// colocations. A call by name is on one device, its own; the nodes of a PartitionedCall keep what
// they ask for, completed from the device of the call.
void Inline(FunctionRewriter& rewriter, const Node& call, Call callee);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_INLINING_H_
