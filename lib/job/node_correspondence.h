// The correspondence between the nodes of two graphs that run side by side. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_
#define GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_

#include <utility>

#include "lib/check/run_pairs.h"
#include "lib/diff/provenance.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Two nodes correspond if their names give the same place (PlaceOfName(): the names of the calls
// and of the node). In addition:
//   - a node without a namesake corresponds to its counterpart in the diff, or in the ledger
//     `provenance`;
//   - if one graph has lowered loops or branches whose node names do not show where they belong,
//     and the other has functions or names that show it, the functions are inlined in a copy, and
//     nodes are matched backwards from the common outputs (PairBackwards()), unless inlining makes
//     far more nodes.
// The remaining nodes have no counterpart. Both modules must be valid and outlive this object.
// Cost: that of a diff.
class NodeCorrespondence {
 public:
  NodeCorrespondence(const Module& a, const Module& b, const Provenance* provenance);
  RunPairs::Namers namers() const;  // valid as long as this object

 private:
  using Places = llvm::DenseMap<std::pair<const Graph*, NodeId>, NodePlace>;
  void AddByDiff(const Module& a, const Module& b, const Provenance* provenance);
  void AddByLowering(const Module& functional, const Module& other, Places* places);

  Places a_, b_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NODE_CORRESPONDENCE_H_
