// Finds out how nodes were removed from one stage of a run to a later one.
#ifndef GRAPNEL_LIB_DIFF_FATES_H_
#define GRAPNEL_LIB_DIFF_FATES_H_

#include "lib/diff/diff.h"

namespace grapnel {

// Completes a diff whose nodes were matched by name: finds the outcome of each removed node from
// the new inputs of its readers, makes groups of fused nodes, finds inlined calls, and moves
// changes that only follow from these, or that a pass makes to many nodes, to `counted`. `a` and
// `b` are the compared modules. Near-linear.
void FindOutcomes(const Module& a, const Module& b, Diff* diff);

// Returns "merged", "pruned", ...
llvm::StringRef OutcomeWord(NodeOutcome::Kind kind);
// Returns "merged into x", "folded into the constant x", "pruned", ...
std::string OutcomeText(const NodeOutcome& fate);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FATES_H_
