// Changes that follow from what became of other nodes, or that a pass makes to every node alike.
#ifndef GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
#define GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Moves them from the matched pairs to `counted`, each kind once, with the nodes that it is of:
//   "with operands in another order"  of a commutative op
//   "follow a removed input"          the fate of what was read tells what is read now
//   "placed on cpu:0"                 had no device before
//   "marked _XlaFoo"                  a private attribute, whose name begins with an underscore
// A node that became a constant keeps its new op as its only change. Needs the fates.
void CountFollowedChanges(Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
