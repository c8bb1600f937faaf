#include "lib/io/variable_tensors.h"

#include "lib/io/signature.h"
#include "lib/ir/node_types.h"

namespace grapnel {

bool HandsOnVariable(llvm::StringRef op) {
  return op == "Identity" || op == "ReadVariableOp" || op == "Cast" || op == "Enter" ||
         op == "StopGradient";
}

VariableTensors::VariableTensors(const GraphInFile& graph) : main_(graph.module->main) {
  for (NodeId id : NodesOfSaver(graph)) of_saver_.insert(id);
  std::vector<const Graph*> todo(1, &main_);
  while (!todo.empty()) {
    const Graph& body = *todo.back();
    todo.pop_back();
    for (Node node : body.nodes()) {
      if (!IsOfSaver(node) && MayCallFunctions(node)) Enter(node, &todo);
    }
  }
}

bool VariableTensors::IsOfSaver(const Node& node) const {
  return &node.graph() == &main_ && of_saver_.contains(node.id());
}

NodeId VariableTensors::At(const Graph& body, Port port) const {
  // A path without a cycle, which only a broken graph has, visits each node once.
  for (size_t left = body.num_nodes(); left > 0 && port.node != kNoNode && !port.IsControl();
       --left) {
    Node node = body.node(port.node);
    if (&body == &main_ && IsVariable(node)) return node.id();
    if (auto argument = arguments_.find({&body, node.id()}); argument != arguments_.end())
      return argument->second;
    if (!HandsOnVariable(node.op()) || node.num_inputs() == 0) break;
    port = node.input(0);
  }
  return kNoNode;
}

// Records which arguments of the called functions are variables; adds the bodies for which this
// changed to `todo`.
void VariableTensors::Enter(const Node& call, std::vector<const Graph*>* todo) {
  const Graph& body = call.graph();
  for (llvm::StringRef name : CalledFunctions(call)) {
    const Function* callee = body.module().FindFunction(name);
    if (!callee) continue;
    // If and Case have one more input than their functions: the first, which selects the branch.
    int first = call.num_inputs() - static_cast<int>(callee->args.size());
    if (first < 0 || first > 1) continue;
    bool is_new = seen_.insert(callee).second;
    for (size_t i = 0; i < callee->args.size(); ++i) {
      NodeId variable = At(body, call.input(first + static_cast<int>(i)));
      auto [known, added] = arguments_.try_emplace({&callee->body, callee->args[i]}, variable);
      if (added || known->second == variable || known->second == kNoNode) continue;
      known->second = kNoNode;
      is_new = true;
    }
    if (is_new) todo->push_back(&callee->body);
  }
}

}  // namespace grapnel
