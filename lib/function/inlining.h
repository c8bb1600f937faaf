// Inlines function calls.
#ifndef GRAPNEL_LIB_FUNCTION_INLINING_H_
#define GRAPNEL_LIB_FUNCTION_INLINING_H_

#include <string>

#include "lib/function/function_rewriter.h"

namespace grapnel {

// Returns the reason why the call cannot be inlined, for example that an attribute forbids it, that
// the call does not fit the function, or that inlining would change what the graph computes. Empty
// if the call may be inlined. `callee.function` must not be null.
std::string WhyNotInline(const FunctionRewriter& rewriter, const Node& call, const Call& callee);

// Inlines the call, within a rewrite. Prefixes the names of nodes, loop frames and colocations with
// the call's name. The nodes of a call by name (its op is the function's name) all get the call's
// device; those of a PartitionedCall, and of a call that was part of control flow, keep their
// requested devices, completed from the call's device.
void Inline(FunctionRewriter& rewriter, const Node& call, Call callee);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_INLINING_H_
