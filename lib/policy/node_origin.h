// Finds the node of a model from which a node of an optimized or inlined graph comes. Private to
// lib/policy.
#ifndef GRAPNEL_LIB_POLICY_NODE_ORIGIN_H_
#define GRAPNEL_LIB_POLICY_NODE_ORIGIN_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Returns the full name ("function/node") of the model's node from which `name`, a node in the body
// of `function` ("": the main graph) after inlining, comes: for an inlined node ("call/node"; in a
// loop or branch "while/body/_7/node"), the function's node. For a node that a pass created,
// returns its own name.
std::string NameOfOrigin(const Module& module, llvm::StringRef function, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_NODE_ORIGIN_H_
