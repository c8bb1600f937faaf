// Finds the nodes that the results depend on, a step of model_pruner.
#ifndef GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_
#define GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_

#include <vector>

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"
#include "llvm/ADT/SmallBitVector.h"

namespace grapnel {

// The nodes, and the ports of IdentityN nodes, that preserved nodes (and, in bodies that must keep
// effects, stateful nodes) depend on, at the time of construction. Linear.
class Liveness {
 public:
  Liveness(const Editor& edit, OpKinds& kinds);

  bool IsLive(const Node& node) const { return live_[node.id()]; }
  // IdentityN nodes of which some, but not all, outputs are needed; sorted.
  std::vector<NodeId> HalfRead() const;
  // Which outputs of an IdentityN node are needed; for a node of HalfRead().
  const llvm::SmallBitVector& PortsOf(const Node& node) const {
    return ports_.find(node.id())->second;
  }

 private:
  void MarkAll(const Node& node);
  void Mark(Port port);
  void Walk();

  const Editor& edit_;
  const Graph& graph_;
  OpKinds& kinds_;
  std::vector<bool> live_;
  // what to follow next: one input of a node, or, if the index is kAllInputs or kControls, these
  // inputs of the node
  std::vector<Port> open_;
  std::vector<NodeId> by_port_;  // visited IdentityN nodes
  llvm::DenseMap<NodeId, llvm::SmallBitVector> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_
