// Turns a node that is only waited for into a NoOp.
//
//   Before:  x -> Sqrt -^> y        After:  x -^> NoOp -^> y
//
// The node keeps its name, and waits for its former inputs: for the node that made the tensor or,
// if that is a Switch, for an Identity of the tensor.
//
// Refuses: everything if nothing is fetched; nodes that are fetched, fed or kept; ops with effects,
// except reads of variables, or that TensorFlow does not know; control flow; an Identity that must
// stay (see bypass.cpp).
#include "passes/dependency_optimizer/dependency_optimizer.h"

namespace grapnel {
namespace {

// The node to wait for in place of `port`: for an output of a Switch the oldest Identity that reads
// it, or a new one; otherwise the port's node.
Node AnchorOf(Dependencies& rule, Port port) {
  Graph& graph = rule.graph;
  Node source = graph.node(port.node);
  if (!rule.kinds.Is(source, kSwitchOp)) return source;
  NodeId anchor = kNoNode;
  for (const Use& use : source.UsesOf(port.index)) {
    Node reader = graph.node(use.node);
    bool is_anchor = rule.kinds.Is(reader, kIdentityOp) || IsIdentityNOfOne(reader);
    if (is_anchor) anchor = std::min(anchor, use.node);
  }
  return anchor == kNoNode ? rule.Anchor(port, /*find=*/false) : graph.node(anchor);
}

Verdict BecomeNoOp(Dependencies& rule, const Node& node) {
  if (rule.kinds.Is(node, kNoOpOp) || !rule.CanBecomeNoOp(node)) return rule.NotMine();
  llvm::SmallVector<Port, 4> inputs = node.inputs(), controls;
  llvm::DenseSet<NodeId> seen;
  for (Port port : inputs) {
    Node source = port.IsControl() ? rule.graph.node(port.node) : AnchorOf(rule, port);
    if (seen.insert(source.id()).second) controls.push_back({source.id(), kControlPort});
  }
  rule.edit.SetInputs(node, controls);
  rule.edit.SetOp(node, "NoOp");
  for (const auto& [key, value] : node.Attrs()) rule.edit.RemoveAttr(node, key);
  for (Port port : inputs) {
    if (!port.IsControl()) rule.Push(rule.graph.node(port.node));
  }
  rule.Push(node);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "dependency_optimizer",
              .phase = kNodes,
              .after = "drop_wait_for_constant",
              .name = "become_no_op",
              .ops = {},
              .help = "a node that is only waited for becomes a NoOp",
              .refuses = "everything if nothing is fetched; nodes that are fetched, fed or kept; "
                         "ops with effects, except reads of variables, and unknown ops; control "
                         "flow; an Identity that bypass_identity refuses",
              .apply = BecomeNoOp});

}  // namespace
}  // namespace grapnel
