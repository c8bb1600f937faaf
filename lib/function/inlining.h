// Inlines function calls.
#ifndef GRAPNEL_LIB_FUNCTION_INLINING_H_
#define GRAPNEL_LIB_FUNCTION_INLINING_H_

#include <string>

#include "lib/function/function_rewriter.h"

namespace grapnel {

// Returns why inlining the call would change what the graph computes; empty if it may be inlined.
// Linear in the function's body, and in those that it calls.
std::string WhyNotInline(const FunctionRewriter& rewriter, const Node& call, const Call& callee);

// Inlines the call, within a rewrite. Prefixes names of nodes, loop frames and colocations with the
// call's name. The nodes of a call by name all get its device; those of a PartitionedCall keep
// their requested devices, completed from the call's device.
void Inline(FunctionRewriter& rewriter, const Node& call, Call callee);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_INLINING_H_
