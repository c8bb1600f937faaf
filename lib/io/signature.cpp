#include "lib/io/signature.h"

#include <algorithm>

#include "lib/io/object_functions.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/library/body_hash.h"
#include "lib/support/name_list.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// Returns a bit for each node id: true if an output of one of the signatures needs the node of the
// main graph.
std::vector<bool> NeededInMain(const Graph& main, llvm::ArrayRef<Signature> signatures) {
  std::vector<bool> needed(main.end_id(), false);
  std::vector<NodeId> todo;
  auto need = [&](NodeId id) {
    if (id == kNoNode || needed[id]) return;
    needed[id] = true;
    todo.push_back(id);
  };
  for (const Signature& signature : signatures) {
    for (const SignatureTensor& output : signature.outputs) {
      auto node = FindNode(main, output.tensor);
      if (node) {
        need(node->id());
      } else {
        llvm::consumeError(node.takeError());
      }
    }
  }
  while (!todo.empty()) {
    Node node = main.node(todo.back());
    todo.pop_back();
    for (const Port& port : node.inputs()) need(port.node);
  }
  return needed;
}

// Returns the function that a node calls if all the node does is call it (such as a
// PartitionedCall); null otherwise, and if the library lacks the function.
const Function* CalleeOf(const Node& node) {
  const Module& module = node.graph().module();
  if (const Function* function = module.FindFunction(node.op())) return function;
  if (node.op() != "PartitionedCall" && node.op() != "StatefulPartitionedCall") return nullptr;
  std::optional<AttrView> f = node.FindAttr("f");
  return f ? module.FindFunction(f->AsFuncName().value_or("")) : nullptr;
}

// True for nodes that only provide inputs or forward values, and so may surround the call that does
// the work.
bool HandsOn(const Node& node) {
  if (node.num_inputs() == 0) return true;
  return llvm::StringSwitch<bool>(node.op())
      .Cases("Identity", "IdentityN", "_Retval", "NoOp", "ReadVariableOp", true)
      .Cases("PlaceholderWithDefault", "EnsureShape", "StopGradient", "PreventGradient", true)
      .Default(false);
}

// Follows a value back through nodes that forward it, such as Identity, to the port that produces
// it.
Port Origin(const Graph& graph, Port port) {
  while (port.node != kNoNode && !port.IsControl()) {
    Node node = graph.node(port.node);
    bool one = node.op() == "Identity" || node.op() == "EnsureShape" ||
               node.op() == "StopGradient" || node.op() == "PreventGradient";
    bool several = node.op() == "IdentityN" && port.index < node.num_inputs();
    if ((!one && !several) || node.num_inputs() == 0) break;
    port = node.input(several ? port.index : 0);
  }
  return port;
}

// Returns one port of the body for each tensor that the function takes.
std::vector<Port> ArgumentPorts(const Function& function) {
  std::vector<Port> ports;
  for (NodeId id : function.args) {
    int count = std::max(1, NumOutputs(function.body.node(id)));
    for (int i = 0; i < count; ++i) ports.push_back({id, i});
  }
  return ports;
}

// Returns the ports in the body whose values the function returns.
std::vector<Port> ResultPorts(const Function& function) {
  std::vector<Port> ports;
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    for (int i = 0; i < node.num_inputs(); ++i) ports.push_back(node.input(i));
  }
  return ports;
}

// Goes from the main graph into the function that it calls, and so on, as long as a body only
// forwards values to a single call.
class Descent {
 public:
  Descent(const GraphInFile& graph, const Signature& signature) {
    const Graph& main = graph.module->main;
    at_.name = signature.name;
    at_.graph = &main;
    at_.needed = NeededInMain(main, signature);
    AddEnds(main, signature.inputs, &at_.inputs);
    AddEnds(main, signature.outputs, &at_.outputs);
  }

  SignatureBody Run() && {
    for (Node call = OnlyCall(); call; call = OnlyCall()) {
      const Function* callee = CalleeOf(call);
      if (!seen_.insert(callee).second) break;  // the function calls itself
      Enter(call, *callee);
    }
    return std::move(at_);
  }

 private:
  static void AddEnds(const Graph& main, llvm::ArrayRef<SignatureTensor> tensors,
                      std::vector<SignatureBody::End>* ends) {
    for (const SignatureTensor& tensor : tensors) {
      if (auto port = FindTensorIfThere(main, tensor.tensor)) ends->push_back({tensor.key, *port});
    }
  }

  // Returns the only call in this body if the other nodes just forward values; otherwise an empty
  // Node.
  Node OnlyCall() const {
    Node call;
    for (Node node : at_.graph->nodes()) {
      if (!at_.needed.empty() && !at_.needed[node.id()]) continue;
      if (CalleeOf(node)) {
        if (call) return Node();
        call = node;
      } else if (!HandsOn(node)) {
        return Node();
      }
    }
    return call;
  }

  void Enter(const Node& call, const Function& callee) {
    std::vector<Port> arguments = ArgumentPorts(callee), results = ResultPorts(callee);
    std::vector<SignatureBody::End> inputs, outputs;
    std::map<Port, Port> from_main;
    bool fits = static_cast<int>(arguments.size()) == call.num_inputs();
    for (size_t i = 0; fits && i < arguments.size(); ++i) {
      Port given = Origin(*at_.graph, call.input(i));
      for (const SignatureBody::End& end : at_.inputs) {
        if (end.port == given) inputs.push_back({end.key, arguments[i]});
      }
      if (!at_.function) {
        from_main[arguments[i]] = given;
      } else if (auto found = at_.from_main.find(given); found != at_.from_main.end()) {
        from_main[arguments[i]] = found->second;
      }
    }
    for (const SignatureBody::End& end : at_.outputs) {
      Port given = Origin(*at_.graph, end.port);
      if (given.node == call.id() && given.index >= 0 &&
          static_cast<size_t>(given.index) < results.size())
        outputs.push_back({end.key, results[given.index]});
    }
    at_.graph = &callee.body;
    at_.function = &callee;
    at_.calls.push_back(callee.name().str());
    at_.needed.clear();
    at_.inputs = std::move(inputs);
    at_.outputs = std::move(outputs);
    at_.from_main = std::move(from_main);
  }

  SignatureBody at_;
  llvm::DenseSet<const Function*> seen_;
};

// Adds the functions that a node calls, and the functions that those call.
void AddCallees(const Module& module, const Node& caller,
                llvm::DenseSet<const Function*>* functions) {
  std::vector<Node> todo = {caller};
  while (!todo.empty()) {
    Node node = todo.back();
    todo.pop_back();
    for (llvm::StringRef name : CalledFunctions(node)) {
      const Function* callee = module.FindFunction(name);
      if (!callee || !functions->insert(callee).second) continue;
      for (const Node& inner : callee->body.nodes()) {
        if (MayCallFunctions(inner)) todo.push_back(inner);
      }
    }
  }
}

// Returns the nodes `ids` of the main graph, and the nodes of functions that only these call.
std::vector<Node> WithOwnCallees(const GraphInFile& graph, llvm::ArrayRef<NodeId> ids) {
  if (ids.empty()) return {};
  const Graph& main = graph.module->main;
  llvm::DenseSet<NodeId> alone(ids.begin(), ids.end());
  llvm::DenseSet<const Function*> others, callees;
  for (const Node& node : main.nodes()) {
    if (!alone.count(node.id())) AddCallees(*graph.module, node, &others);
  }
  std::vector<Node> nodes;
  for (NodeId id : ids) {
    nodes.push_back(main.node(id));
    AddCallees(*graph.module, nodes.back(), &callees);
  }
  for (const auto& function : graph.module->functions) {
    if (!callees.count(function.get()) || others.count(function.get())) continue;
    for (const Node& node : function->body.nodes()) nodes.push_back(node);
  }
  return nodes;
}

// Finds the nodes of the main graph that only keep variables and tables: see UpkeepNodes.
class Upkeep {
 public:
  Upkeep(const GraphInFile& graph, llvm::ArrayRef<Signature> of_users)
      : graph_(graph),
        main_(graph.module->main),
        served_(NeededInMain(main_, of_users)),
        fed_(FedIn(main_)) {}

  std::vector<NodeId> Run() && {
    std::vector<bool> is_end(main_.end_id(), false);
    for (NodeId id : NodesOfSaver(graph_)) is_end[id] = true;
    std::vector<Signature> internal = graph_.signatures;
    llvm::erase_if(internal, [](const Signature& one) { return !IsInternal(one); });
    for (NodeId id : NeededNodes(main_, internal)) is_end[id] = true;
    for (NodeId id : TopologicalOrder(main_)) {
      Node node = main_.node(id);
      is_end[id] = is_end[id] || Initializes(node) || Groups(node, is_end);
    }
    return OnlyFor(is_end);
  }

 private:
  // True for an op that gives a variable or table its first value, or only looks at a variable, and
  // that depends on no input.
  bool Initializes(const Node& node) const {
    return !served_[node.id()] && !fed_[node.id()] &&
           llvm::StringSwitch<bool>(node.op())
               .Cases("Assign", "AssignVariableOp", "LookupTableImportV2", true)
               .Cases("InitializeTable", "InitializeTableV2", true)
               .Cases("InitializeTableFromTextFile", "InitializeTableFromTextFileV2", true)
               .Cases("VarIsInitializedOp", "IsVariableInitialized", true)
               .Case("ReadVariableOp", node.uses().empty())
               .Default(false);
  }

  static bool Groups(const Node& node, const std::vector<bool>& is_end) {
    return node.op() == "NoOp" && llvm::all_of(node.inputs(), [&](const Port& port) {
             return port.node == kNoNode || is_end[port.node];
           });
  }

  // Returns, by node, whether it depends on a placeholder.
  static std::vector<bool> FedIn(const Graph& main) {
    std::vector<bool> fed(main.end_id(), false);
    for (NodeId id : TopologicalOrder(main)) {
      Node node = main.node(id);
      fed[id] = node.op().starts_with("Placeholder") ||
                llvm::any_of(node.inputs(), [&](const Port& port) {
                  return port.node != kNoNode && fed[port.node];
                });
    }
    return fed;
  }

  // Returns the nodes that the ends need and that nothing else does.
  std::vector<NodeId> OnlyFor(const std::vector<bool>& is_end) const {
    std::vector<NodeId> ends, results;
    for (const Node& node : main_.nodes()) {
      if (is_end[node.id()] && !served_[node.id()])
        ends.push_back(node.id());
      else if (node.uses().empty() || served_[node.id()])
        results.push_back(node.id());
    }
    std::vector<bool> kept = Reached(ends), needed = Reached(results);
    std::vector<NodeId> only;
    for (NodeId id = 0; id < kept.size(); ++id)
      if (kept[id] && !needed[id]) only.push_back(id);
    return only;
  }

  std::vector<bool> Reached(std::vector<NodeId> todo) const {
    std::vector<bool> reached(main_.end_id(), false);
    for (NodeId id : todo) reached[id] = true;
    while (!todo.empty()) {
      Node node = main_.node(todo.back());
      todo.pop_back();
      for (const Port& port : node.inputs()) {
        if (port.node == kNoNode || reached[port.node]) continue;
        reached[port.node] = true;
        todo.push_back(port.node);
      }
    }
    return reached;
  }

  const GraphInFile& graph_;
  const Graph& main_;
  const std::vector<bool> served_, fed_;  // by node; served: a signature needs it
};

// Finds out whether signatures run the same network.
class NetworkComparison {
 public:
  explicit NetworkComparison(const GraphInFile& graph) : graph_(graph) {}

  bool AreSame(const Signature& a, const Signature& b) {
    if (!SameTensors(a.inputs, b.inputs) || !SameTensors(a.outputs, b.outputs)) return false;
    SignatureBody x = BodyOf(graph_, a), y = BodyOf(graph_, b);
    if (!x.function || !y.function)
      return x.graph == y.graph && SameEnds(x.inputs, y.inputs) && SameEnds(x.outputs, y.outputs);
    bool is_one = x.function == y.function || HashOf(x.function) == HashOf(y.function);
    return is_one && InOrder(x) == InOrder(y);
  }

 private:
  static bool SameTensors(llvm::ArrayRef<SignatureTensor> a, llvm::ArrayRef<SignatureTensor> b) {
    return llvm::equal(a, b, [](const SignatureTensor& x, const SignatureTensor& y) {
      return x.key == y.key && x.dtype == y.dtype && x.shape == y.shape;
    });
  }

  static bool SameEnds(llvm::ArrayRef<SignatureBody::End> a, llvm::ArrayRef<SignatureBody::End> b) {
    return llvm::equal(a, b, [](const SignatureBody::End& x, const SignatureBody::End& y) {
      return x.key == y.key && x.port == y.port;
    });
  }

  // Returns what the arguments and results of the body stand for, in order: the key of an input or
  // output, and for an argument the port of the main graph that provides it.
  static std::vector<std::pair<std::string, Port>> InOrder(const SignatureBody& body) {
    std::vector<std::pair<std::string, Port>> order;
    auto key_at = [](llvm::ArrayRef<SignatureBody::End> ends, Port port) {
      auto end = llvm::find_if(ends, [&](const auto& one) { return one.port == port; });
      return end == ends.end() ? std::string() : end->key;
    };
    for (Port port : ArgumentPorts(*body.function)) {
      std::string key = key_at(body.inputs, port);
      auto given = body.from_main.find(port);
      bool is_captured = key.empty() && given != body.from_main.end();
      order.emplace_back(std::move(key), is_captured ? given->second : Port());
    }
    for (Port port : ResultPorts(*body.function))
      order.emplace_back(key_at(body.outputs, port), Port());
    return order;
  }

  uint64_t HashOf(const Function* function) {
    if (hashes_.empty()) hashes_ = BodyHashes(*graph_.module);
    const auto& functions = graph_.module->functions;
    auto is_it = [&](const auto& one) { return one.get() == function; };
    return hashes_[llvm::find_if(functions, is_it) - functions.begin()];
  }

  const GraphInFile& graph_;
  std::vector<uint64_t> hashes_;  // by function; empty: not needed yet
};

}  // namespace

bool IsInternal(const Signature& signature) {
  return llvm::StringRef(signature.name).starts_with("__saved_model_");
}

std::vector<std::vector<const Signature*>> SignaturesByNetwork(const GraphInFile& graph) {
  std::vector<const Signature*> usable;
  for (const Signature& signature : graph.signatures) {
    if (!IsInternal(signature)) usable.push_back(&signature);
  }
  std::stable_partition(usable.begin(), usable.end(),
                        [](const Signature* one) { return one->name == kDefaultSignature; });
  NetworkComparison comparison(graph);
  std::vector<std::vector<const Signature*>> networks;
  for (const Signature* signature : usable) {
    auto same = llvm::find_if(networks, [&](const auto& network) {
      return graph.module && comparison.AreSame(*network.front(), *signature);
    });
    if (same == networks.end())
      networks.push_back({signature});
    else
      same->push_back(signature);
  }
  return networks;
}

std::vector<const Signature*> DistinctSignatures(const GraphInFile& graph) {
  std::vector<const Signature*> distinct;
  for (const auto& network : SignaturesByNetwork(graph)) distinct.push_back(network.front());
  return distinct;
}

const Signature* DefaultSignature(const GraphInFile& graph) {
  for (const Signature& signature : graph.signatures) {
    if (signature.name == kDefaultSignature) return &signature;
  }
  std::vector<const Signature*> distinct = DistinctSignatures(graph);
  return distinct.size() == 1 ? distinct.front() : nullptr;
}

Expected<const Signature*> ChooseSignature(const Model& model, const GraphInFile& graph,
                                           llvm::StringRef name) {
  if (name.empty()) return DefaultSignature(graph);
  std::vector<llvm::StringRef> names;
  for (const Signature& signature : graph.signatures) {
    if (signature.name == name) return &signature;
    names.push_back(signature.name);
  }
  auto function = FindObjectFunction(graph, name);
  bool is_function = !function || *function;
  llvm::consumeError(function.takeError());
  if (is_function)
    return MakeError(
        "{0}: signature '{1}' not found, but a function has that name: pass "
        "--function '{1}'",
        model.path, name);
  return Annotate(model.path, NotFound("signature", name, names));
}

Expected<const Signature*> ChooseOneSignature(const Model& model, const GraphInFile& graph,
                                              llvm::StringRef name) {
  ASSIGN_OR_RETURN(const Signature* chosen, ChooseSignature(model, graph, name));
  if (chosen) return chosen;
  std::vector<std::string> names;
  for (const Signature* signature : DistinctSignatures(graph)) names.push_back(signature->name);
  if (names.empty()) {
    RETURN_IF_ERROR(CheckHasSignature(model, graph));
    return nullptr;
  }
  return MakeError("{0}: has {1}, none of them '{2}': name one with --signature: {3}", model.path,
                   Plural(names.size(), "signature"), kDefaultSignature, NameList(names));
}

Node SignatureBody::GivenByMain(const Node& argument) const {
  auto found = from_main.find({argument.id(), 0});
  if (&argument.graph() != graph || found == from_main.end() || found->second.node == kNoNode)
    return Node();
  return argument.graph().module().main.node(found->second.node);
}

SignatureBody BodyOf(const GraphInFile& graph, const Signature& signature) {
  return Descent(graph, signature).Run();
}

std::vector<NodeId> NeededNodes(const Graph& main, llvm::ArrayRef<Signature> signatures) {
  std::vector<NodeId> ids;
  std::vector<bool> needed = NeededInMain(main, signatures);
  for (NodeId id = 0; id < needed.size(); ++id) {
    if (needed[id]) ids.push_back(id);
  }
  return ids;
}

std::vector<NodeId> NodesOfSaver(const GraphInFile& graph) {
  if (!graph.saver || !graph.module) return {};
  Signature saver;
  for (const std::string& tensor : {graph.saver->save_tensor, graph.saver->restore_op})
    saver.outputs.push_back({{}, tensor, {}, {}});
  std::vector<bool> by_signatures = NeededInMain(graph.module->main, graph.signatures);
  std::vector<NodeId> nodes = NeededNodes(graph.module->main, saver);
  llvm::erase_if(nodes, [&](NodeId id) { return by_signatures[id]; });
  return nodes;
}

std::vector<Node> ReachedBySaver(const GraphInFile& graph) {
  return graph.module ? WithOwnCallees(graph, NodesOfSaver(graph)) : std::vector<Node>();
}

std::vector<Node> UpkeepNodes(const GraphInFile& graph) {
  if (!graph.module) return {};
  std::vector<Signature> of_users = graph.signatures;
  llvm::erase_if(of_users, IsInternal);
  if (of_users.empty()) return ReachedBySaver(graph);
  return WithOwnCallees(graph, Upkeep(graph, of_users).Run());
}

std::vector<Node> ReachedNodes(const GraphInFile& graph, llvm::ArrayRef<Signature> signatures) {
  const Module& module = *graph.module;
  std::vector<Node> nodes;
  llvm::DenseSet<const Function*> seen;
  std::vector<const Function*> todo;
  auto visit = [&](const Node& node) {
    if (node.op() == "_Arg" || node.op() == "_Retval") return;
    nodes.push_back(node);
    for (llvm::StringRef name : CalledFunctions(node)) {
      const Function* callee = module.FindFunction(name);
      if (callee && seen.insert(callee).second) todo.push_back(callee);
    }
  };
  for (NodeId id : NeededNodes(module.main, signatures)) visit(module.main.node(id));
  while (!todo.empty()) {
    const Function* function = todo.back();
    todo.pop_back();
    for (Node node : function->body.nodes()) visit(node);
  }
  return nodes;
}

}  // namespace grapnel
