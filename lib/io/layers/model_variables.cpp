#include "lib/io/layers/model_variables.h"

#include <algorithm>

#include "lib/io/layers/scopes.h"
#include "lib/io/signature.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// Splits "a/b/kernel" into a and b.
llvm::SmallVector<std::string, 4> PathOfName(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  name.split(parts, '/');
  parts.pop_back();
  return {parts.begin(), parts.end()};
}

// Maps objects to their place in a list of variables that Keras keeps with a model: "variables",
// "trainable_variables".
llvm::DenseMap<int, int> PlacesIn(llvm::StringRef name, const proto::SavedObjectGraph& saved) {
  llvm::DenseMap<int, int> places;
  if (saved.nodes().empty()) return places;
  for (const auto& child : saved.nodes(0).children()) {
    int list = child.node_id();
    if (child.local_name() != name || list < 0 || list >= saved.nodes_size()) continue;
    for (const auto& one : saved.nodes(list).children()) {
      if (one.node_id() >= 0 && one.node_id() < saved.nodes_size())
        places.try_emplace(one.node_id(), static_cast<int>(places.size()));
    }
  }
  return places;
}

std::vector<ModelVariable> OfFile(const GraphInFile& file, const proto::SavedObjectGraph& saved) {
  const GraphInFile& whole = file.whole ? *file.whole : file;
  llvm::DenseMap<NodeId, NodeId> in_part;
  if (file.whole) in_part = VariablesInPart(file);
  llvm::DenseMap<int, int> places = PlacesIn("variables", saved);
  llvm::DenseMap<int, int> trained = PlacesIn("trainable_variables", saved);
  std::vector<ModelVariable> variables;
  for (const SavedVariable& one : OwnVariablesOf(whole)) {
    ModelVariable& variable = variables.emplace_back();
    variable.told.name = one.name;
    if (one.object >= 0) {
      variable.objects.push_back(one.object);
      const std::string& name = saved.nodes(one.object).variable().name();
      if (!name.empty()) variable.told.name = name;
    }
    variable.objects.insert(variable.objects.end(), one.also.begin(), one.also.end());
    bool is_trained = false;
    for (int object : variable.objects) {
      auto place = places.find(object);
      if (place == places.end()) continue;
      variable.place = place->second;
      // A variable that could be trained is not if its layer was frozen.
      is_trained |= trained.count(object) > 0;
    }
    variable.told.node = whole.module->main.node(one.node).name().str();
    variable.told.dtype = one.dtype;
    variable.told.shape = one.shape;
    variable.told.trainable = variable.place < 0 ? one.trainable : is_trained;
    variable.node = one.node;
    if (file.whole) {
      auto found = in_part.find(one.node);
      variable.node = found == in_part.end() ? kNoNode : found->second;
    }
    variable.path = PathOfName(variable.told.name);
  }
  return variables;
}

std::vector<ModelVariable> OfFrozenGraph(const GraphInFile& file) {
  std::vector<ModelVariable> variables;
  for (Node node : file.module->main.nodes()) {
    if (node.op() != "Const" || !IsFloating(node.GetType("dtype"))) continue;
    auto literal = Literal::FromConst(node);
    if (!literal) {
      llvm::consumeError(literal.takeError());
      continue;
    }
    if (literal->dims().empty()) continue;
    ModelVariable& variable = variables.emplace_back();
    variable.told.name = variable.told.node = node.name().str();
    variable.told.dtype = literal->dtype();
    variable.told.shape = Shape(literal->dims());
    variable.node = node.id();
    // A function's variable is frozen under the name of the node that reads it:
    // "dense/MatMul/ReadVariableOp/resource".
    llvm::StringRef name = node.name();
    name.consume_back("/resource");
    name.consume_back("/ReadVariableOp");
    variable.path = PathOfName(name);
  }
  return variables;
}

// True for the body of a function to which callers pass variables.
bool TakesVariables(const Graph& graph) {
  for (Node node : graph.nodes())
    if (node.op() == "_Arg" && node.GetType("T") == proto::DT_RESOURCE) return true;
  return false;
}

// Keras does not count the state of random generators, and an optimizer names its variables after
// the weights: "dense/kernel/Adam".
void DropOthers(std::vector<ModelVariable>* variables) {
  llvm::StringSet<> names;
  for (const ModelVariable& variable : *variables) names.insert(variable.told.name);
  llvm::erase_if(*variables, [&](const ModelVariable& variable) {
    llvm::StringRef name = variable.told.name;
    return IsGeneratorState(name) || (name.contains('/') && names.contains(name.rsplit('/').first));
  });
}

// Adds the Identity nodes through which inlining passes the parameters to what was in a call.
void FollowArguments(LayerBody* body) {
  std::vector<std::pair<Port, int>> todo(body->handles.begin(), body->handles.end());
  while (!todo.empty()) {
    auto [port, variable] = todo.back();
    todo.pop_back();
    for (const Use& use : body->graph->node(port.node).UsesOf(port.index)) {
      Node reader = body->graph->node(use.node);
      bool passes_on = reader.op() == "Identity" && AroundCall(reader.name()) != reader.name();
      if (passes_on && body->handles.try_emplace({use.node, 0}, variable).second)
        todo.push_back({{use.node, 0}, variable});
    }
  }
}

void Read(const Graph& graph, LayerBody* body) {
  for (const auto& [port, variable] : body->handles) {
    for (const Use& use : graph.node(port.node).UsesOf(port.index)) {
      llvm::SmallVector<int, 2>& reads = body->reads[use.node];
      if (!llvm::is_contained(reads, variable)) reads.push_back(variable);
    }
  }
}

// Lists the nodes of a body for which `is_needed` is true.
void ListNodes(llvm::function_ref<bool(NodeId)> is_needed, LayerBody* body) {
  for (Node node : body->graph->nodes()) {
    bool is_end = node.op() == "_Arg" || node.op() == "_Retval";
    if (!is_end && !body->handles.count({node.id(), 0}) && is_needed(node.id()))
      body->nodes.push_back(node.id());
  }
}

// Compares keys so that "output_2" comes before "output_10".
bool KeyLess(llvm::StringRef a, llvm::StringRef b) {
  llvm::StringRef x = a.rtrim("0123456789"), y = b.rtrim("0123456789");
  if (x != y || a.size() == b.size()) return a < b;
  return a.size() < b.size();
}

LayerBody BodyOfSignature(const GraphInFile& file, const Signature& signature,
                          llvm::ArrayRef<ModelVariable> variables) {
  SignatureBody found = BodyOf(file, signature);
  LayerBody body;
  body.graph = found.graph;
  llvm::DenseMap<NodeId, int> of_node;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].node != kNoNode) of_node[variables[i].node] = static_cast<int>(i);
  }
  if (found.function) {
    body.function = found.function->name().str();
    for (const auto& [argument, given] : found.from_main) {
      if (given.node == kNoNode) continue;
      auto variable = of_node.find(given.node);
      if (variable != of_node.end()) body.handles[argument] = variable->second;
    }
  } else {
    for (const auto& [node, variable] : of_node) body.handles[{node, 0}] = variable;
  }
  FollowArguments(&body);
  // The network of a signature also has what no output needs, such as a layer that only adds a
  // loss.
  bool is_network = file.whole && !found.function;
  ListNodes([&](NodeId id) { return is_network || found.needed.empty() || found.needed[id]; },
            &body);
  Read(*body.graph, &body);
  llvm::stable_sort(found.outputs,
                    [](const auto& a, const auto& b) { return KeyLess(a.key, b.key); });
  for (const SignatureBody::End& end : found.outputs) body.outputs.push_back(end.port);
  return body;
}

LayerBody BodyOfGraph(const GraphInFile& file, llvm::ArrayRef<ModelVariable> variables) {
  LayerBody body;
  body.graph = &file.module->main;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].node != kNoNode) body.handles[{variables[i].node, 0}] = static_cast<int>(i);
  }
  FollowArguments(&body);
  std::vector<bool> of_saver(body.graph->end_id(), false);
  for (NodeId id : NodesOfSaver(file)) of_saver[id] = true;
  ListNodes([&](NodeId id) { return !of_saver[id]; }, &body);
  Read(*body.graph, &body);
  return body;
}

// Returns the input that provides the first argument of the functions in a call's attributes; -1
// for other nodes.
int FirstArgument(const Node& node) {
  if (node.graph().module().FindFunction(node.op())) return 0;
  return llvm::StringSwitch<int>(node.op())
      .Cases("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "_While", 0)
      .Cases("If", "StatelessIf", "_If", "Case", "StatelessCase", 1)
      .Default(-1);
}

}  // namespace

std::vector<ModelVariable> ParametersOf(const GraphInFile& file,
                                        const proto::SavedObjectGraph& saved) {
  std::vector<ModelVariable> variables = OfFile(file, saved);
  if (variables.empty() && !TakesVariables(file.module->main)) variables = OfFrozenGraph(file);
  DropOthers(&variables);
  return variables;
}

std::vector<LayerBody> BodiesOf(const GraphInFile& file, llvm::ArrayRef<ModelVariable> variables) {
  std::vector<LayerBody> bodies;
  for (const Signature* signature : DistinctSignatures(file)) {
    LayerBody body = BodyOfSignature(file, *signature, variables);
    bool is_known = llvm::any_of(bodies, [&](const auto& one) { return one.graph == body.graph; });
    if (!is_known || body.function.empty()) bodies.push_back(std::move(body));
  }
  if (bodies.empty()) bodies.push_back(BodyOfGraph(file, variables));
  return bodies;
}

std::vector<LayerBody> BodiesCalledBy(const Node& node, const LayerBody& body) {
  std::vector<LayerBody> bodies;
  int first = FirstArgument(node);
  if (first < 0) return bodies;
  for (llvm::StringRef name : CalledFunctions(node)) {
    const Function* function = node.graph().module().FindFunction(name);
    if (!function) continue;
    LayerBody& callee = bodies.emplace_back();
    callee.graph = &function->body;
    callee.function = name.str();
    for (size_t i = 0; i < function->args.size(); ++i) {
      int slot = first + static_cast<int>(i);
      if (slot >= node.num_inputs()) break;
      auto handle = body.handles.find(node.input(slot));
      if (handle != body.handles.end()) callee.handles[{function->args[i], 0}] = handle->second;
    }
    for (const Function::Result& result : function->results) {
      Node retval = function->body.node(result.node);
      for (int i = 0; i < retval.num_inputs(); ++i) callee.outputs.push_back(retval.input(i));
    }
    ListNodes([](NodeId) { return true; }, &callee);
    Read(*callee.graph, &callee);
  }
  return bodies;
}

}  // namespace grapnel
