// Which node of one graph stands for which of another, when both are run side by side. Private to
// lib/job.
#ifndef GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_
#define GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_

#include <utility>

#include "lib/check/run_pairs.h"
#include "lib/diff/provenance.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Nodes of a place are the same (PlaceOfName()). Beside that,
//   - a node that has no namesake is what the diff, or the ledger that `provenance` is, takes it
//   for;
//   - where one graph has loops or branches of single nodes whose names say nothing of where they
//     belong, and the other has functions, the functions are opened in a copy, and the flow to what
//     both end with tells (PairBackwards()). What it leaves over has no counterpart.
// Both modules are valid and outlive it. Cost: a diff.
class NodeCorrespondence {
 public:
  NodeCorrespondence(const Module& a, const Module& b, const Provenance* provenance);
  RunPairs::Namers namers() const;  // as long as this lives

 private:
  using Places = llvm::DenseMap<std::pair<const Graph*, NodeId>, NodePlace>;
  void AddByDiff(const Module& a, const Module& b, const Provenance* provenance);
  void AddByLowering(const Module& functional, const Module& other, Places* places);

  Places a_, b_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_
