// Compares the signatures of two models.
#ifndef GRAPNEL_LIB_JOB_SIGNATURE_CHANGES_H_
#define GRAPNEL_LIB_JOB_SIGNATURE_CHANGES_H_

#include <vector>

#include "lib/diff/signature_diff.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Returns the names of the signatures to compare, of two files: "" alone if both have a default
// signature or one has no signatures; otherwise the signatures that both have, one per network.
// Errors: a file has several signatures and no default, and the other has none of them.
Expected<std::vector<std::string>> SignaturesToCompare(const OpenedGraph& a, const OpenedGraph& b);

// Returns the signatures of either file, with their changes for callers, and how their networks
// differ. `diff` is the comparison of `a` and `b`, the graphs of a signature of each file, which is
// not made again. Compares each pair of networks once. Errors: those of TakeSignature.
Expected<std::vector<SignatureDiff>> CompareSignatures(const OpenedGraph& a, const OpenedGraph& b,
                                                       const Diff& diff,
                                                       const DiffOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SIGNATURE_CHANGES_H_
