// Finds out what a stage of a run did to the nodes that it removed.
#ifndef GRAPNEL_LIB_DIFF_FATES_H_
#define GRAPNEL_LIB_DIFF_FATES_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Completes a diff in which names decided: finds the outcome of each removed node from what its
// readers read now, joins fused nodes with the fused reader into a group, finds inlined calls, and
// moves changes that only follow from these to `counted`. `a` and `b` are the compared modules.
// Near-linear.
void FindOutcomes(const Module& a, const Module& b, Diff* diff);

// "merged", "pruned", ...
llvm::StringRef OutcomeWord(NodeOutcome::Kind kind);
// "merged into x", "folded into the constant x", "pruned", ...
std::string OutcomeText(const NodeOutcome& fate);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FATES_H_
