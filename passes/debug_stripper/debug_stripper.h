// Edits shared by the rules of the debug stripper.
#ifndef GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_
#define GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_

#include "lib/pass/rule.h"

namespace grapnel::debug_stripper {

// Drops the node's attributes except `kept` and those that begin with '_', which describe the node,
// not the op.
void DropAttrsOfOp(Editor& edit, const Node& node, llvm::StringRef kept = "");
// Turns the data inputs from slot `first` on into control inputs, in the same order.
void WaitFrom(Editor& edit, const Node& node, int first);
// Turns the node into a NoOp that waits for all its inputs.
void BecomeNoOp(Editor& edit, const Node& node);

}  // namespace grapnel::debug_stripper

#endif  // GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_
