#include "lib/pass/boundary.h"

#include <set>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// The port of a feed or a fetch: "x", "x:1", or "^x" for a node that must run.
Expected<Port> FindEnd(const Graph& graph, llvm::StringRef tensor, const char* what) {
  if (ReadTensorName(tensor).control) {
    auto node = FindNode(graph, tensor);
    if (!node) return Annotate(what, node.takeError());
    return Port{node->id(), kControlPort};
  }
  auto port = FindTensor(graph, tensor);
  if (!port) return Annotate(what, port.takeError());
  return *port;
}

// What is fed in any case; one with a default may do without.
bool IsPlaceholder(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Placeholder" || op == "PlaceholderV2" || op == "_Arg" || op == "_DeviceArg";
}

// Only one of its outputs has a value.
bool IsSwitch(const Node& node) {
  return node.op() == "Switch" || node.op() == "RefSwitch" || node.op() == "_SwitchN";
}

bool IsArgument(const Node& node) { return node.op() == "_Arg" || node.op() == "_DeviceArg"; }
bool IsResult(const Node& node) { return node.op() == "_Retval" || node.op() == "_DeviceRetval"; }

// Of an argument or a variable's handle it is the value's.
bool HasEffect(const Node& node) {
  const OpInfo* info = DefinitionOf(node);
  return info && info->is_stateful && !IsArgument(node) && !IsResult(node) && !IsVariable(node);
}

// Calls visit(scope) for "a/b" and "a" of "a/b/node", the longest first.
template <typename Visit>
void ForEachScope(llvm::StringRef name, Visit visit) {
  while (name.contains('/')) {
    name = name.rsplit('/').first;
    visit(name);
  }
}

// The runtime keeps, beside results, the function's own ops with effects, reads of variables among
// them. A call that it inlined is a NoOp that waits for the effects in its scope, and stands for
// them.
std::vector<std::string> EndsOfFunctionGraph(const Graph& graph) {
  std::set<llvm::StringRef> with_effects, calls;
  for (Node node : graph.nodes()) {
    if (HasEffect(node))
      ForEachScope(node.name(), [&](llvm::StringRef scope) { with_effects.insert(scope); });
  }
  for (Node node : graph.nodes())
    if (node.op() == "NoOp" && with_effects.contains(node.name())) calls.insert(node.name());
  std::vector<std::string> ends;
  for (Node node : graph.nodes()) {
    if (IsResult(node)) ends.push_back(node.name().str());
    if (!HasEffect(node) && !calls.contains(node.name())) continue;
    bool is_within = false;
    ForEachScope(node.name(), [&](llvm::StringRef scope) { is_within |= calls.contains(scope); });
    if (!is_within) ends.push_back("^" + node.name().str());
  }
  return ends;
}

}  // namespace

bool IsFunctionGraph(const Graph& graph) {
  for (Node node : graph.nodes())
    if (IsArgument(node) || IsResult(node)) return true;
  return false;
}

std::vector<std::string> DefaultFetches(const Graph& graph) {
  if (IsFunctionGraph(graph)) return EndsOfFunctionGraph(graph);
  std::vector<std::string> sinks;
  for (Node node : graph.nodes()) {
    if (!node.uses().empty() || node.op() == "NoOp" || node.op() == "Const") continue;
    sinks.push_back(node.name().str());
    if (IsSwitch(node)) continue;
    for (int i = 1, end = NumOutputs(node); i < end; ++i)
      sinks.push_back(llvm::formatv("{0}:{1}", node.name(), i).str());
  }
  return sinks;
}

Expected<Boundary> BoundaryOf(const Graph& graph, llvm::ArrayRef<std::string> feeds,
                              llvm::ArrayRef<std::string> fetches) {
  Boundary boundary;
  for (const std::string& fetch : fetches) {
    ASSIGN_OR_RETURN(Port port, FindEnd(graph, fetch, "fetch"));
    boundary.fetched.insert(port.node);
    // A node without outputs is fetched by its name, to be run.
    if (!port.IsControl() && NumOutputs(graph.node(port.node)) != 0)
      boundary.fetched_ports.push_back(port);
  }
  for (const std::string& feed : feeds) {
    ASSIGN_OR_RETURN(Port port, FindEnd(graph, feed, "feed"));
    boundary.fed.insert(port.node);
  }
  for (Node node : graph.nodes()) {
    if (IsPlaceholder(node)) boundary.fed.insert(node.id());
    if (IsResult(node)) boundary.kept.insert(node.id());
  }
  return boundary;
}

Boundary BoundaryOf(const Function& function) {
  Boundary boundary;
  for (NodeId id : function.args) boundary.fed.insert(id);
  for (const Function::Result& result : function.results) boundary.fetched.insert(result.node);
  for (const auto& [name, id] : function.control_results) boundary.kept.insert(id);
  boundary.keep_stateful = true;
  return boundary;
}

}  // namespace grapnel
