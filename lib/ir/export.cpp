#include <algorithm>

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {
namespace {

std::string FunctionPortText(const Function& function, Port port) {
  Node node = function.body.node(port.node);
  if (port.IsControl()) return NodeDefInput(node.name(), kControlPort);
  if (node.op() == "_Arg") {
    const OpArg& arg = function.info.inputs[std::max<int64_t>(0, node.GetInt("index"))];
    bool is_list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
    return is_list ? OutputName(node.name(), port.index) : node.name().str();
  }
  llvm::StringRef output;
  int index = port.index;
  if (const OpInfo* info = DefinitionOf(node)) {
    std::tie(output, index) = OutputOfPort(node, *info, port.index);
  } else if (auto it = function.unknown_outputs.find({port.node, port.index});
             it != function.unknown_outputs.end()) {
    output = node.graph().module().strings.Get(it->second.first);
    index = it->second.second;
  }
  return OutputName((node.name() + ":" + output).str(), index);
}

// A serialized message, in which large values are references: `text` is the message without them,
// and `large` has each with its position in `text`. So a constant of 100 MB is written without a
// copy.
struct Pieces {
  std::string text;
  llvm::SmallVector<std::pair<size_t, llvm::StringRef>, 1> large;

  void Append(llvm::StringRef bytes) {
    constexpr size_t kLarge = 64 * 1024;
    if (bytes.size() < kLarge) {
      text.append(bytes.data(), bytes.size());
    } else {
      large.push_back({text.size(), bytes});
    }
  }
  size_t size() const {
    size_t size = text.size();
    for (const auto& [at, bytes] : large) size += bytes.size();
    return size;
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    size_t begin = 0;
    for (const auto& [at, bytes] : large) {
      visit(llvm::StringRef(text).slice(begin, at));
      visit(bytes);
      begin = at;
    }
    visit(llvm::StringRef(text).substr(begin));
  }
};

// Appends the input in `slot` as a NodeDef states it.
void AppendInput(const Node& node, int slot, const Function* function, std::string* out) {
  Port port = node.input(slot);
  if (port.node == kNoNode) {
    AppendBytesField(out, 3, node.DanglingText(slot));
  } else if (function) {
    AppendBytesField(out, 3, FunctionPortText(*function, port));
  } else if (port.index == 0) {
    AppendBytesField(out, 3, node.graph().node(port.node).name());
  } else {
    AppendBytesField(out, 3, PortText(node.graph(), port));
  }
}

// Returns the NodeDef of a new or changed node.
Pieces NodeDefOf(const Node& node, const Function* function) {
  constexpr size_t kMostlyEnough = 512;
  const Graph& graph = node.graph();
  Pieces out;
  out.text.reserve(kMostlyEnough);
  if (!node.name().empty()) AppendBytesField(&out.text, 1, node.name());
  if (!node.op().empty()) AppendBytesField(&out.text, 2, node.op());
  for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot)
    AppendInput(node, slot, function, &out.text);
  if (!node.device().empty()) AppendBytesField(&out.text, 4, node.device());
  for (const auto& [key, value] : node.Attrs()) {
    AppendMapEntryHead(&out.text, 5, key, value.bytes());
    out.Append(value.bytes());
  }
  // Copies the node's other fields as they were read: debug info, full type, unknown fields.
  WireReader reader(graph.Source(node.id()));
  while (reader.Next()) {
    if (reader.field() > 5) out.Append(reader.whole_field());
  }
  return out;
}

}  // namespace

std::string PortText(const Graph& graph, Port port) {
  return NodeDefInput(graph.node(port.node).name(), port.index);
}

std::string ExportNodeDef(const Node& node, const Function* function) {
  llvm::StringRef unchanged = node.graph().UnchangedSource(node.id());
  if (!unchanged.empty()) return unchanged.str();
  Pieces pieces = NodeDefOf(node, function);
  std::string out;
  out.reserve(pieces.size());
  pieces.ForEach([&out](llvm::StringRef piece) { out.append(piece.data(), piece.size()); });
  return out;
}

std::string ExportFunctionDef(const Function& function, bool in_order_made) {
  if (!function.changed && !function.source.empty()) return function.source.str();
  std::string out;
  AppendBytesField(&out, 1, function.signature);
  llvm::DenseSet<NodeId> boundary(function.args.begin(), function.args.end());
  for (const Function::Result& result : function.results) boundary.insert(result.node);
  // Nodes are written after their inputs. With `in_order_made`, or if the body has a cycle that is
  // not a loop, they are in the order of their ids.
  std::vector<NodeId> order;
  if (!in_order_made) order = TopologicalOrder(function.body);
  if (order.size() != function.body.num_nodes()) {
    order.clear();
    for (Node node : function.body.nodes()) order.push_back(node.id());
  }
  for (NodeId id : order) {
    if (boundary.contains(id)) continue;
    llvm::StringRef unchanged = function.body.UnchangedSource(id);
    if (!unchanged.empty()) {
      AppendBytesField(&out, 3, unchanged);
      continue;
    }
    Pieces pieces = NodeDefOf(function.body.node(id), &function);
    AppendTag(&out, 3, WireType::kBytes);
    AppendVarint(&out, pieces.size());
    pieces.ForEach([&out](llvm::StringRef piece) { out.append(piece.data(), piece.size()); });
  }
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    if (node.num_inputs() == 0) continue;
    Port port = node.input(0);
    AppendMapEntry(
        &out, 4, result.name,
        port.node == kNoNode ? node.DanglingText(0).str() : FunctionPortText(function, port));
  }
  for (const auto& [name, node] : function.control_results) {
    AppendMapEntry(&out, 6, name, function.body.node(node).name());
  }
  WireReader reader(function.source);
  while (reader.Next()) {
    if (reader.field() != 1 && reader.field() != 3 && reader.field() != 4 && reader.field() != 6)
      out += reader.whole_field();
  }
  return out;
}

void ExportGraphDef(const Module& module, llvm::raw_ostream& os, llvm::ArrayRef<NodeId> order) {
  auto write_field = [&os](uint32_t field, llvm::StringRef bytes) {
    std::string head;
    AppendTag(&head, field, WireType::kBytes);
    AppendVarint(&head, bytes.size());
    os << head << bytes;
  };
  auto write_node = [&](const Node& node) {
    llvm::StringRef unchanged = module.main.UnchangedSource(node.id());
    if (!unchanged.empty()) {
      write_field(1, unchanged);
    } else {
      Pieces pieces = NodeDefOf(node, nullptr);
      std::string head;
      AppendTag(&head, 1, WireType::kBytes);
      AppendVarint(&head, pieces.size());
      os << head;
      pieces.ForEach([&os](llvm::StringRef piece) { os << piece; });
    }
  };
  if (order.empty()) {
    for (Node node : module.main.nodes()) write_node(node);
  } else {
    for (NodeId id : order) {
      if (module.main.IsAlive(id)) write_node(module.main.node(id));
    }
  }
  std::string library;
  for (const auto& function : module.functions)
    AppendBytesField(&library, 1, ExportFunctionDef(*function));
  library += module.other_library_fields;
  if (module.has_library || !library.empty()) write_field(2, library);
  if (module.has_versions || !module.versions.empty()) write_field(4, module.versions);
  os << module.other_fields;
}

}  // namespace grapnel
