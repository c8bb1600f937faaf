// The edits that rules of the debug stripper share.
#ifndef GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_
#define GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_

#include "lib/pass/rule.h"

namespace grapnel::debug_stripper {

// Drops the node's attributes but for `kept`, and for those that begin with '_': they say something
// of the node, not of the op.
void DropAttrsOfOp(Editor& edit, const Node& node, llvm::StringRef kept = "");
// What the node reads from slot `first` on becomes something that it waits for, in the same order.
void WaitFrom(Editor& edit, const Node& node, int first);
// The node does nothing, once all that it read is there.
void BecomeNoOp(Editor& edit, const Node& node);

}  // namespace grapnel::debug_stripper

#endif  // GRAPNEL_PASSES_DEBUG_STRIPPER_DEBUG_STRIPPER_H_
