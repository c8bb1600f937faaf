#include "passes/model_pruner/liveness.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Used in place of a port's index: follow all inputs of the node, or only its control inputs.
constexpr int32_t kAllInputs = -1, kControls = -2;

}  // namespace

Liveness::Liveness(const Editor& edit, OpKinds& kinds)
    : edit_(edit), graph_(edit.graph()), kinds_(kinds), live_(graph_.end_id()) {
  for (Node node : graph_.nodes()) {
    bool has_effect = edit.boundary().keep_stateful && kinds.Is(node, kStatefulOp);
    if (edit.IsPreserved(node) || has_effect) MarkAll(node);
  }
  Walk();
  // A node that waits for an IdentityN without reading it depends on all inputs of the IdentityN.
  for (size_t i = 0; i < by_port_.size(); ++i) {
    Node node = graph_.node(by_port_[i]);
    if (ports_[node.id()].none()) MarkAll(node);
    Walk();
  }
}

std::vector<NodeId> Liveness::HalfRead() const {
  std::vector<NodeId> found;
  for (NodeId id : by_port_) {
    if (!PortsOf(graph_.node(id)).all()) found.push_back(id);
  }
  llvm::sort(found);
  return found;
}

void Liveness::MarkAll(const Node& node) {
  Mark({node.id(), kControlPort});
  if (!kinds_.Is(node, kIdentityNOp) || edit_.IsPreserved(node)) return;
  for (int i = 0; i < node.num_inputs(); ++i) Mark({node.id(), i});
}

void Liveness::Mark(Port port) {
  if (port.node == kNoNode) return;
  Node node = graph_.node(port.node);
  bool is_new = !live_[port.node];
  live_[port.node] = true;
  if (!kinds_.Is(node, kIdentityNOp) || edit_.IsPreserved(node)) {
    if (is_new) open_.push_back({port.node, kAllInputs});
    return;
  }
  llvm::SmallBitVector& ports = ports_[port.node];
  if (is_new) {
    ports.resize(node.num_inputs());
    by_port_.push_back(port.node);
    open_.push_back({port.node, kControls});
  }
  if (!port.IsControl() && !ports.test(port.index)) {
    ports.set(port.index);
    open_.push_back(port);
  }
}

void Liveness::Walk() {
  while (!open_.empty()) {
    Port port = open_.back();
    open_.pop_back();
    Node node = graph_.node(port.node);
    graph_.Prefetch(port.node - Graph::kAhead);  // most files have inputs before their readers
    int slots = node.num_inputs() + node.num_controls();
    if (port.index >= 0) {
      Mark(node.input(port.index));
    } else {
      for (int i = port.index == kControls ? node.num_inputs() : 0; i < slots; ++i)
        Mark(node.input(i));
    }
  }
}

}  // namespace grapnel
