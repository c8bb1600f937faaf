#include "lib/ir/print.h"

#include "lib/ir/device_name.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

bool IsHidden(llvm::StringRef key) { return key == "_output_shapes" || key == "value"; }

std::string ConstantText(const Node& node) {
  if (node.op() != "Const" && node.op() != "HostConst") return "";
  auto literal = Literal::FromConst(node);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return " = ?";
  }
  return " = " + literal->ToString();
}

// Inputs first; nodes on a broken cycle after the rest, in the file's order.
std::vector<NodeId> PrintOrder(const Graph& graph) {
  std::vector<NodeId> order = TopologicalOrder(graph);
  if (order.size() < graph.num_nodes()) {
    std::vector<bool> seen(graph.end_id(), false);
    for (NodeId id : order) seen[id] = true;
    for (Node node : graph.nodes()) {
      if (!seen[node.id()]) order.push_back(node.id());
    }
  }
  return order;
}

}  // namespace

std::string NodeLine(const Node& node, const PortDescriber& describe) {
  const Graph& graph = node.graph();
  std::string line = ("%" + node.name() + " = " + node.op()).str();
  int slot = 0;
  for (Port port : node.inputs()) {
    line += slot == 0 ? "(" : ", ";
    if (port.node == kNoNode) {
      line += ("!" + node.DanglingText(slot)).str();
    } else if (port.IsControl()) {
      line += ("^" + graph.node(port.node).name()).str();
    } else {
      line += ("%" + graph.node(port.node).name() + ":" + llvm::Twine(port.index)).str();
    }
    ++slot;
  }
  if (slot) line += ")";
  std::string attrs;
  for (const auto& [key, value] : node.Attrs()) {
    if (IsHidden(key)) continue;
    attrs += (attrs.empty() ? "" : ", ") + key.str() + "=" + value.ToString();
  }
  if (!attrs.empty()) line += " {" + attrs + "}";
  if (!node.device().empty()) line += " @" + ShortDevice(node.device());
  if (describe) {
    int outputs = std::max(NumOutputs(node), 0);
    for (int i = 0; i < outputs; ++i) line += (i ? ", " : " : ") + describe({node.id(), i});
  }
  return line + ConstantText(node);
}

void PrintModule(const Module& module, llvm::raw_ostream& os, const PortDescriber& describe) {
  for (NodeId id : PrintOrder(module.main)) os << NodeLine(module.main.node(id), describe) << "\n";
  for (const auto& function : module.functions) {
    os << "\nfunc @" << function->name() << " {\n";
    for (NodeId id : PrintOrder(function->body))
      os << "  " << NodeLine(function->body.node(id)) << "\n";
    os << "}\n";
  }
}

}  // namespace grapnel
