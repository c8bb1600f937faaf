// Finds changes of nodes that only follow from how other nodes were removed, and changes that a
// pass usually makes to many nodes.
#ifndef GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
#define GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Moves such changes from the matched pairs to `counted`, which has one entry for each kind, with
// the nodes that changed in this way:
//   "with operands in another order"  of a commutative op
//   "follow a removed input"          the outcome of the old input explains the new input
//   "placed on cpu:0"                 the node had no device before
//   "marked _XlaFoo"                  a private attribute, whose name begins with an underscore
// A node that became a constant keeps its new op as its only change. Diff::fates must be complete.
void CountFollowedChanges(Diff* diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FOLLOWED_CHANGES_H_
