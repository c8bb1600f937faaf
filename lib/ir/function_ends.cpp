#include "lib/ir/function_ends.h"

#include <algorithm>
#include <set>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// True for stateful ops, except arguments, results and variable handles: a handle only refers to
// the state, the variable's value.
bool HasState(const Node& node) {
  const OpInfo* info = DefinitionOf(node);
  return info && info->is_stateful && !IsArgument(node) && !IsResult(node) && !IsVariable(node);
}

// Calls visit(scope) for each scope that contains the node: for "a/b/node" first "a/b", then "a".
template <typename Visit>
void ForEachScope(llvm::StringRef name, Visit visit) {
  while (name.contains('/')) {
    name = name.rsplit('/').first;
    visit(name);
  }
}

// Returns the names of inlined calls whose bodies have effects. In place of such a call, the
// runtime leaves a NoOp of the call's name, which waits for the ops with effects; their names begin
// with "CALL/".
std::set<llvm::StringRef> InlinedCalls(const Graph& graph, llvm::ArrayRef<NodeId> stateful) {
  std::set<llvm::StringRef> scopes, calls;
  for (NodeId id : stateful)
    ForEachScope(graph.node(id).name(), [&](llvm::StringRef scope) { scopes.insert(scope); });
  if (scopes.empty()) return calls;
  for (Node node : graph.nodes())
    if (node.op() == "NoOp" && scopes.contains(node.name())) calls.insert(node.name());
  return calls;
}

std::vector<NodeId> InOrderOfIndex(const Graph& graph, std::vector<NodeId> ends) {
  std::stable_sort(ends.begin(), ends.end(), [&](NodeId a, NodeId b) {
    return graph.node(a).GetInt("index") < graph.node(b).GetInt("index");
  });
  return ends;
}

// Returns the shape in a list attribute of one element; otherwise an unknown shape.
Shape OnlyShape(const Node& node, const char* key) {
  std::optional<AttrView> attr = node.FindAttr(key);
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  return shapes && shapes->size() == 1 ? (*shapes)[0] : Shape::Unknown();
}

std::string TypeText(DataType dtype, const Shape& shape) {
  return DataTypeName(dtype).str() + (shape.known_rank() ? shape.ToString() : "");
}

Node NodeNamed(const Graph& graph, llvm::StringRef text, bool (*is_end)(const Node&)) {
  if (Node node = graph.Find(ReadTensorName(text).node)) return is_end(node) ? node : Node();
  int64_t index = 0;
  if (text.getAsInteger(10, index)) return {};
  for (Node node : graph.nodes())
    if (is_end(node) && node.GetInt("index", -1) == index) return node;
  return {};
}

}  // namespace

bool IsArgument(const Node& node) { return node.op() == "_Arg" || node.op() == "_DeviceArg"; }
bool IsResult(const Node& node) { return node.op() == "_Retval" || node.op() == "_DeviceRetval"; }

// Compares interned ids of op names, which takes a millisecond for a million nodes; returns at once
// if no node of the module has such an op.
bool IsFunctionGraph(const Graph& graph) {
  llvm::SmallVector<StringId, 4> ends;
  for (const char* op : {"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval"}) {
    StringId id = graph.module().strings.Find(op);
    if (id != kNoString) ends.push_back(id);
  }
  if (ends.empty()) return false;
  for (Node node : graph.nodes())
    if (llvm::is_contained(ends, node.op_id())) return true;
  return false;
}

FunctionEnds EndsOfFunctionGraph(const Graph& graph) {
  FunctionEnds ends;
  for (Node node : graph.nodes()) {
    if (IsArgument(node)) ends.arguments.push_back(node.id());
    if (IsResult(node)) ends.results.push_back(node.id());
    if (HasState(node)) ends.stateful.push_back(node.id());
  }
  ends.arguments = InOrderOfIndex(graph, std::move(ends.arguments));
  ends.results = InOrderOfIndex(graph, std::move(ends.results));
  const std::set<llvm::StringRef> calls = InlinedCalls(graph, ends.stateful);
  for (Node node : graph.nodes()) {
    if (!HasState(node) && !calls.contains(node.name())) continue;
    bool is_within = false;
    ForEachScope(node.name(), [&](llvm::StringRef scope) { is_within |= calls.contains(scope); });
    if (!is_within) ends.targets.push_back(node.id());
  }
  return ends;
}

bool OnlyReadsState(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd", true)
      .Cases("VarIsInitializedOp", "IsVariableInitialized", "VariableShape", true)
      .Cases("LookupTableFind", "LookupTableFindV2", "LookupTableSize", "LookupTableSizeV2", true)
      .Cases("LookupTableExport", "LookupTableExportV2", "QueueSizeV2", "QueueIsClosedV2", true)
      .Default(false);
}

std::string ArgumentType::ToString() const {
  std::string text = TypeText(dtype, shape);
  return held == proto::DT_INVALID ? text : text + " of " + TypeText(held, held_shape);
}

ArgumentType TypeOfArgument(const Node& argument) {
  ArgumentType type;
  type.dtype = argument.GetType("T");
  type.shape = OnlyShape(argument, "_output_shapes");
  if (type.dtype != proto::DT_RESOURCE) return type;
  // The shape in _output_shapes is that of the handle, a scalar, and not that of the variable.
  type.shape = Shape::Unknown();
  std::optional<AttrView> attr = argument.FindAttr("_handle_dtypes");
  auto dtypes = attr ? attr->AsTypes() : std::nullopt;
  if (!dtypes || dtypes->size() != 1) return type;
  type.held = (*dtypes)[0];
  type.held_shape = OnlyShape(argument, "_handle_shapes");
  return type;
}

Node FindArgument(const Graph& graph, llvm::StringRef text) {
  return NodeNamed(graph, text, IsArgument);
}

Node FindResult(const Graph& graph, llvm::StringRef text) {
  return NodeNamed(graph, text, IsResult);
}

Expected<Port> FindEnd(const Graph& graph, llvm::StringRef end) {
  if (!ReadTensorName(end).control) return FindTensor(graph, end);
  ASSIGN_OR_RETURN(Node node, FindNode(graph, end));
  return Port{node.id(), kControlPort};
}

Expected<Port> FindFetch(const Graph& graph, llvm::StringRef fetch) {
  ASSIGN_OR_RETURN(Port port, FindEnd(graph, fetch));
  Node node = graph.node(port.node);
  bool reads = IsResult(node) && node.num_inputs() > 0 && node.input(0).node != kNoNode;
  return reads && !port.IsControl() ? node.input(0) : port;
}

}  // namespace grapnel
