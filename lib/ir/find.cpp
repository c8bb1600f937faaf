#include "lib/ir/find.h"

#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns the node that `name` refers to. If there is none, the node whose name is the whole
// `text`: in a hand-made file, a node's name may look like "x:1".
Node NodeOf(const Graph& graph, const TensorName& name, llvm::StringRef text) {
  if (Node node = graph.Find(name.node)) return node;
  return graph.Find(text);
}

auto NamesOf(const Graph& graph) {
  return [&graph](NameSink take) {
    for (Node node : graph.nodes()) take(node.name());
  };
}

Error NoSuchNode(const Graph& graph, llvm::StringRef text) {
  return NotFound("node", ReadTensorName(text).node, NamesOf(graph));
}

// Returns the error for an output that an existing node does not have. `outputs`: -1 if their
// number is unknown.
Error NoSuchOutput(const Node& node, int outputs, llvm::StringRef text) {
  if (outputs < 0)
    return MakeError("'{0}' is not an output of node '{1}'; '{1}:0' or the like was expected", text,
                     node.name());
  if (outputs == 0)
    return MakeError("node '{0}' has no outputs; '{1}' does not exist", node.name(), text);
  return MakeError("node '{0}' has {1}; '{2}' is not one of them", node.name(),
                   Plural(outputs, "output"), text);
}

// Returns the node of the tensor `text`; an empty Node if there is none, and for "^x". Sets `*port`
// if the node has that output.
Node LookUp(const Graph& graph, llvm::StringRef text, std::optional<Port>* port) {
  TensorName name = ReadTensorName(text);
  if (name.control) return {};
  Node node = NodeOf(graph, name, text);
  if (!node) return {};
  int32_t index = node.name() == name.node ? name.index : 0;
  int outputs = NumOutputs(node);
  if (outputs < 0 || index < std::max(outputs, 1)) *port = Port{node.id(), index};
  return node;
}

}  // namespace

void VisitNodeNames(const Module& module, NameSink take) {
  for (Node node : module.main.nodes()) take(node.name());
  std::string name;
  for (const auto& function : module.functions) {
    name = (function->name() + "/").str();
    size_t size = name.size();
    for (Node node : function->body.nodes()) {
      name.resize(size);
      name += node.name();
      take(name);
    }
  }
}

Expected<Node> FindNode(const Graph& graph, llvm::StringRef text) {
  if (Node node = NodeOf(graph, ReadTensorName(text), text)) return node;
  return NoSuchNode(graph, text);
}

Expected<Node> FindNode(const Module& module, llvm::StringRef text) {
  TensorName name = ReadTensorName(text);
  if (Node node = NodeOf(module.main, name, text)) return node;
  auto [function_name, inner] = name.node.split('/');
  const Function* function = module.FindFunction(function_name);
  if (!function)
    return NotFound("node", name.node, [&](NameSink take) { VisitNodeNames(module, take); });
  // Also accepts "x:out:0", the form of an input in a FunctionDef.
  for (llvm::StringRef inside : {inner, ReadFunctionTensorName(inner).node}) {
    if (Node node = function->body.Find(inside)) return node;
  }
  std::string where = " in function '" + function_name.str() + "'";
  return NotFound("node", inner, NamesOf(function->body), where);
}

Expected<Port> FindTensor(const Graph& graph, llvm::StringRef tensor) {
  std::optional<Port> port;
  Node node = LookUp(graph, tensor, &port);
  if (port) return *port;
  if (node) return NoSuchOutput(node, NumOutputs(node), tensor);
  if (ReadTensorName(tensor).control)
    return MakeError("'{0}' is a control edge; a tensor, like 'x' or 'x:1', was expected", tensor);
  // The text may be invalid, such as "x:one" or "x:-1", but name a node that exists.
  if (Node node = graph.Find(tensor.rsplit(':').first))
    return NoSuchOutput(node, NumOutputs(node), tensor);
  return NoSuchNode(graph, tensor);
}

std::optional<Port> FindTensorIfThere(const Graph& graph, llvm::StringRef tensor) {
  std::optional<Port> port;
  LookUp(graph, tensor, &port);
  return port;
}

Expected<const Function*> FindFunction(const Module& module, llvm::StringRef name) {
  if (const Function* function = module.FindFunction(name)) return function;
  return NotFound("function", name, [&module](NameSink take) {
    for (const auto& function : module.functions) take(function->name());
  });
}

}  // namespace grapnel
