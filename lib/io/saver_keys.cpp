#include "lib/io/saver_keys.h"

#include <map>
#include <optional>

#include "lib/ir/find.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {
namespace {

// Follows Identity and IdentityN back to the port whose value they forward.
Port SourceOf(const Graph& graph, Port port) {
  while (port.node != kNoNode && !port.IsControl()) {
    Node node = graph.node(port.node);
    bool one = node.op() == "Identity" && node.num_inputs() > 0;
    bool several = node.op() == "IdentityN" && port.index < node.num_inputs();
    if (!one && !several) break;
    port = node.input(several ? port.index : 0);
  }
  return port;
}

bool IsAssign(const Node& node) {
  return (node.op() == "AssignVariableOp" || node.op() == "Assign") && node.num_inputs() >= 2;
}

// The string constants of a body. A saver has thousands of keys in one constant, which is decoded
// once.
class Strings {
 public:
  explicit Strings(const Graph& graph) : graph_(graph) {}

  std::optional<std::string> At(Port port, int64_t index) {
    Port source = SourceOf(graph_, port);
    if (source.node == kNoNode || graph_.node(source.node).op() != "Const") return std::nullopt;
    auto [known, is_new] = known_.try_emplace(source.node);
    std::optional<Literal>& literal = known->second;
    if (is_new) {
      auto made = Literal::FromConst(graph_.node(source.node));
      if (made && made->dtype() == proto::DT_STRING) literal = std::move(*made);
      llvm::consumeError(made.takeError());
    }
    if (!literal || index >= literal->num_elements()) return std::nullopt;
    return literal->strings()[literal->is_splat() ? 0 : index];
  }

 private:
  const Graph& graph_;
  std::map<NodeId, std::optional<Literal>> known_;
};

// Returns the key of the checkpoint tensor that RestoreV2 reads for this value; nullopt if the
// value comes from another op or is only a slice, or if the key is not a constant.
std::optional<std::string> KeyOfValue(const Graph& graph, Port value, Strings* strings) {
  Port source = SourceOf(graph, value);
  if (source.node == kNoNode || source.IsControl()) return std::nullopt;
  Node node = graph.node(source.node);
  if (node.op() != "RestoreV2" || node.num_inputs() < 3) return std::nullopt;
  std::optional<std::string> slices = strings->At(node.input(2), source.index);
  if (slices && !slices->empty()) return std::nullopt;
  return strings->At(node.input(1), source.index);
}

class SaverReader {
 public:
  explicit SaverReader(const GraphInFile& graph) : module_(*graph.module) {}

  // Records the checkpoint key for each assignment to a variable among `nodes` of a body. `in_main`
  // maps the body's arguments to the main graph's variables that callers pass.
  void Read(const Graph& body, llvm::ArrayRef<NodeId> nodes,
            const llvm::DenseMap<NodeId, NodeId>& in_main) {
    auto variable_at = [&](Port port) {
      Port source = SourceOf(body, port);
      if (source.node == kNoNode) return kNoNode;
      if (IsMain(body)) return IsVariable(body.node(source.node)) ? source.node : kNoNode;
      auto found = in_main.find(source.node);
      return found == in_main.end() ? kNoNode : found->second;
    };
    Strings strings(body);
    for (NodeId id : nodes) {
      Node node = body.node(id);
      if (IsAssign(node)) {
        NodeId variable = variable_at(node.input(0));
        std::optional<std::string> key;
        if (variable != kNoNode) key = KeyOfValue(body, node.input(1), &strings);
        if (key) keys.try_emplace(variable, std::move(*key));
      } else if (MayCallFunctions(node)) {
        ReadCallee(node, variable_at);
      }
    }
  }

  llvm::DenseMap<NodeId, std::string> keys;

 private:
  bool IsMain(const Graph& body) const { return &body == &module_.main; }

  void ReadCallee(const Node& call, llvm::function_ref<NodeId(Port)> variable_at) {
    for (llvm::StringRef name : CalledFunctions(call)) {
      const Function* callee = module_.FindFunction(name);
      if (!callee || static_cast<int>(callee->args.size()) != call.num_inputs() ||
          !open_.insert(callee).second)
        continue;
      llvm::DenseMap<NodeId, NodeId> in_main;
      for (int i = 0; i < call.num_inputs(); ++i) {
        NodeId variable = variable_at(call.input(i));
        if (variable != kNoNode) in_main[callee->args[i]] = variable;
      }
      std::vector<NodeId> nodes;
      for (Node node : callee->body.nodes()) nodes.push_back(node.id());
      Read(callee->body, nodes, in_main);
      open_.erase(callee);
    }
  }

  const Module& module_;
  llvm::DenseSet<const Function*> open_;  // functions being read: a function may call itself
};

}  // namespace

llvm::DenseMap<NodeId, std::string> KeysOfSaver(const GraphInFile& graph) {
  if (!graph.saver || graph.saver->restore_op.empty() || !graph.module)
    return llvm::DenseMap<NodeId, std::string>();
  const Graph& main = graph.module->main;
  auto restore = FindNode(main, graph.saver->restore_op);
  if (!restore) {
    llvm::consumeError(restore.takeError());
    return llvm::DenseMap<NodeId, std::string>();
  }
  std::vector<NodeId> nodes(1, restore->id());
  llvm::DenseSet<NodeId> known = {restore->id()};
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (Port port : main.node(nodes[i]).inputs()) {
      if (port.node != kNoNode && known.insert(port.node).second) nodes.push_back(port.node);
    }
  }
  SaverReader reader(graph);
  reader.Read(main, nodes, llvm::DenseMap<NodeId, NodeId>());
  return std::move(reader.keys);
}

llvm::DenseMap<NodeId, NodeId> VariablesCopied(const Graph& main) {
  llvm::DenseMap<NodeId, NodeId> originals;
  for (Node node : main.nodes()) {
    if (node.op() != "AssignVariableOp" || node.num_inputs() < 2) continue;
    Node variable = node.input_node(0);
    Port value = SourceOf(main, node.input(1));
    if (!variable || variable.op() != "VarHandleOp" || value.node == kNoNode) continue;
    Node read = main.node(value.node);
    if (read.op() != "ReadVariableOp" || read.num_inputs() < 1) continue;
    Node original = read.input_node(0);
    if (original && original.op() == "VarHandleOp" && original != variable)
      originals.try_emplace(variable.id(), original.id());
  }
  return originals;
}

}  // namespace grapnel
