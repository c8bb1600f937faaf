// Finds changes that follow from the outcome of other nodes, or that a pass makes to all nodes
// alike.
#ifndef GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
#define GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Moves them from the matched pairs to `counted`, once for each kind, with the nodes they apply to:
//   "with operands in another order"  of a commutative op
//   "follow a removed input"          the outcome of the old input explains the new one
//   "placed on cpu:0"                 had no device before
//   "marked _XlaFoo"                  a private attribute, whose name begins with an underscore
// A node that became a constant keeps its new op as its only change. Needs the outcomes.
void CountFollowedChanges(Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
