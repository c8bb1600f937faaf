#include "lib/pass/boundary.h"

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// True for nodes that are always fed; a placeholder with a default need not be fed.
bool IsPlaceholder(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Placeholder" || op == "PlaceholderV2" || IsArgument(node);
}

// True for a Switch, which gives a value to only one of its outputs.
bool IsSwitch(const Node& node) {
  return node.op() == "Switch" || node.op() == "RefSwitch" || node.op() == "_SwitchN";
}

// For a GraphDef that is a function's body (lib/ir/function_ends.h), returns as fetches the _Retval
// nodes and the nodes that must run for the function's effects.
std::vector<std::string> FetchesOfFunctionGraph(const Graph& graph) {
  FunctionEnds ends = EndsOfFunctionGraph(graph);
  std::vector<std::string> fetches;
  for (NodeId id : ends.results) fetches.push_back(graph.node(id).name().str());
  for (NodeId id : ends.targets) fetches.push_back("^" + graph.node(id).name().str());
  return fetches;
}

}  // namespace

std::vector<std::string> DefaultFetches(const Graph& graph) {
  if (IsFunctionGraph(graph)) return FetchesOfFunctionGraph(graph);
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

std::vector<std::string> DefaultFeeds(const Graph& graph) {
  std::vector<std::string> feeds;
  if (IsFunctionGraph(graph)) {
    for (NodeId id : EndsOfFunctionGraph(graph).arguments)
      feeds.push_back(graph.node(id).name().str());
    return feeds;
  }
  for (Node node : graph.nodes())
    if (IsPlaceholder(node)) feeds.push_back(node.name().str());
  return feeds;
}

Expected<Boundary> BoundaryOf(const Graph& graph, llvm::ArrayRef<std::string> feeds,
                              llvm::ArrayRef<std::string> fetches) {
  Boundary boundary;
  for (const std::string& fetch : fetches) {
    auto port = FindEnd(graph, fetch);
    if (!port) return Annotate("fetch", port.takeError());
    boundary.fetched.insert(port->node);
    // To fetch a node without outputs means to run it: there is no output tensor to return.
    if (!port->IsControl() && NumOutputs(graph.node(port->node)) != 0)
      boundary.fetched_ports.push_back(*port);
  }
  for (const std::string& feed : feeds) {
    auto port = FindEnd(graph, feed);
    if (!port) return Annotate("feed", port.takeError());
    boundary.fed.insert(port->node);
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
