#include "passes/auto_mixed_precision/type_graph.h"

#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel::auto_mixed_precision {
namespace {

// The number of inputs or outputs of the node that belong to the argument; -1 if the attribute that
// gives it is missing.
int NumPorts(const Node& node, const OpArg& arg) {
  if (!arg.type_list_attr.empty()) {
    auto attr = node.Attr(arg.type_list_attr);
    auto types = attr ? attr->AsTypes() : std::nullopt;
    return types ? static_cast<int>(types->size()) : -1;
  }
  return arg.number_attr.empty() ? 1 : static_cast<int>(node.GetInt(arg.number_attr, -1));
}

}  // namespace

int TypeGraph::VertexFor(const Node& node, llvm::StringRef attr, int index, DataType fixed) {
  NodeVertices& own = nodes_[node.id()];
  for (int i : own.vertices) {
    const TypeVertex& vertex = vertices_[i];
    bool is_same = vertex.attr == attr && vertex.index == index;
    if (is_same && (!attr.empty() || vertex.type == fixed)) return i;
  }
  TypeVertex vertex;
  vertex.node = node;
  vertex.attr = attr.str();
  vertex.index = index;
  vertex.type = fixed;
  if (!attr.empty()) {
    auto value = node.Attr(attr);
    auto list = value && index >= 0 ? value->AsTypes() : std::nullopt;
    vertex.type = list ? (*list)[index] : node.GetType(attr);
  }
  own.vertices.push_back(static_cast<int>(vertices_.size()));
  vertices_.push_back(std::move(vertex));
  return own.vertices.back();
}

Error TypeGraph::AddNode(const Node& node) {
  const OpInfo* info = DefinitionOf(node);
  if (!info) return MakeError("node '{0}': unknown op '{1}'", node.name(), node.op());
  auto add_ports = [&](const std::vector<OpArg>& args, bool is_input) -> Error {
    for (const OpArg& arg : args) {
      int count = NumPorts(node, arg);
      if (count < 0)
        return MakeError("node '{0}': no attribute gives the length of argument '{1}'", node.name(),
                         arg.name);
      for (int i = 0; i < count; ++i) {
        bool is_list = !arg.type_list_attr.empty();
        int vertex = VertexFor(node, is_list ? arg.type_list_attr : arg.type_attr, is_list ? i : -1,
                               arg.type);
        auto& of_node = is_input ? nodes_[node.id()].inputs : nodes_[node.id()].outputs;
        (is_input ? vertices_[vertex].inputs : vertices_[vertex].outputs)
            .push_back(static_cast<int>(of_node.size()));
        of_node.push_back(vertex);
      }
    }
    return Error::success();
  };
  RETURN_IF_ERROR(add_ports(info->inputs, true));
  RETURN_IF_ERROR(add_ports(info->outputs, false));
  if (static_cast<int>(nodes_[node.id()].inputs.size()) != node.num_inputs()) {
    return MakeError("node '{0}' has {1}, but its op takes {2}", node.name(),
                     Plural(node.num_inputs(), "input"), nodes_[node.id()].inputs.size());
  }
  // A dtype attribute that no input or output has gets a vertex too, such as the element dtype of a
  // stack in the op that makes the stack's handle.
  for (const OpAttr& attr : info->attrs) {
    if (attr.type == "type" && node.FindAttr(attr.name)) VertexFor(node, attr.name, -1, {});
  }
  return Error::success();
}

Expected<TypeGraph> TypeGraph::Make(const Graph& graph) {
  TypeGraph types;
  types.nodes_.resize(graph.end_id());
  std::vector<NodeId> order = TopologicalOrder(graph);
  for (NodeId id : order) RETURN_IF_ERROR(types.AddNode(graph.node(id)));
  for (int i = 0; i < types.size(); ++i) {
    llvm::SmallVector<int, 4> from;
    for (int input : types.vertices_[i].inputs) {
      Port port = types.vertices_[i].node.input(input);
      if (port.node == kNoNode) continue;
      const auto& outputs = types.nodes_[port.node].outputs;
      if (port.index < static_cast<int>(outputs.size())) types.AddEdge(outputs[port.index], i);
    }
  }
  return types;
}

int TypeGraph::OfAttr(const Node& node, llvm::StringRef attr) const {
  for (int i : Of(node)) {
    if (vertices_[i].attr == attr && vertices_[i].index < 0) return i;
  }
  return -1;
}

void TypeGraph::AddEdge(int from, int to) {
  if (llvm::is_contained(vertices_[to].from, from)) return;
  vertices_[to].from.push_back(from);
  vertices_[from].to.push_back(to);
}

void TypeGraph::Walk(int root, Direction direction, llvm::function_ref<bool(int)> enter,
                     llvm::function_ref<void(int)> visit) const {
  llvm::SmallVector<int, 32> open = {root};
  llvm::DenseSet<int> seen;
  while (!open.empty()) {
    int i = open.pop_back_val();
    if (!seen.insert(i).second) continue;
    if (i != root && !enter(i)) continue;
    visit(i);
    if (direction & kFromInputs) open.append(vertices_[i].from.begin(), vertices_[i].from.end());
    if (direction & kToOutputs) open.append(vertices_[i].to.begin(), vertices_[i].to.end());
  }
}

}  // namespace grapnel::auto_mixed_precision
