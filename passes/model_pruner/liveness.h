// What the results depend on, a step of model_pruner.
#ifndef GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_
#define GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_

#include <vector>

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"
#include "llvm/ADT/SmallBitVector.h"

namespace grapnel {

// Nodes, and ports of IdentityN nodes, that something that must stay depends on. As the graph was
// when this was made. Linear.
class Liveness {
 public:
  Liveness(const Editor& edit, OpKinds& kinds);

  bool IsLive(const Node& node) const { return live_[node.id()]; }
  // IdentityN nodes of which some ports are needed and some are not; sorted.
  std::vector<NodeId> HalfRead() const;
  // The ports of one of these that are needed.
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
  std::vector<Port> open_;       // inputs to follow: one, or as kAllInputs and kControls say
  std::vector<NodeId> by_port_;  // IdentityN nodes met
  llvm::DenseMap<NodeId, llvm::SmallBitVector> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_MODEL_PRUNER_LIVENESS_H_
