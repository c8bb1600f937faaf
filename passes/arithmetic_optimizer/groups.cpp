#include "passes/arithmetic_optimizer/groups.h"

namespace grapnel::arithmetic {

std::optional<Group> FindGroup(Arithmetic& rule, const Node& root,
                               llvm::function_ref<bool(const Node&)> absorbs) {
  Group group;
  group.root = root;
  std::vector<Port> open;
  auto add_inputs = [&](const Node& node) {
    for (int i = node.num_inputs() - 1; i >= 0; --i) open.push_back(node.input(i));
  };
  add_inputs(root);
  while (!open.empty()) {
    Port port = open.back();
    open.pop_back();
    Node node = rule.graph.node(port.node);
    if (node.device_id() == root.device_id() && absorbs(node)) {
      group.absorbed.push_back(node);
      add_inputs(node);
      continue;
    }
    Shape shape = rule.ShapeOf(port);
    if (!shape.known_rank()) return std::nullopt;
    group.inputs.push_back({port, shape});
  }
  if (group.absorbed.empty()) return std::nullopt;
  return group;
}

bool HasBroadcastableInputs(Arithmetic& rule, const Node& node) {
  if (node.num_controls() > 0) return false;
  Shape shape = rule.ShapeOf({node.id(), 0});
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!Broadcast(shape, rule.ShapeOf(node.input(i)))) return false;
  }
  return IsDefined(shape);
}

void MarkGroup(Arithmetic& rule, const Group& group, const char* tag) {
  rule.edit.SetAttr(group.root, tag, attr::Bool(true));
  for (const Node& node : group.absorbed) rule.edit.SetAttr(node, tag, attr::Bool(true));
}

}  // namespace grapnel::arithmetic
