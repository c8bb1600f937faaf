#include "lib/io/saved_variables.h"

#include "lib/io/saved_objects.h"
#include "lib/io/variable_objects.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Returns what the node itself says about its variable.
SavedVariable AsItStands(const Node& node) {
  SavedVariable variable;
  variable.name = NameOfVariable(node);
  variable.dtype = node.GetType("dtype");
  if (auto attr = node.Attr("shape")) variable.shape = attr->AsShape().value_or(Shape());
  variable.node = node.id();
  return variable;
}

// Sets what the graph that `part` is a part of says about the variables.
void AskWhole(const GraphInFile& part, llvm::MutableArrayRef<SavedVariable> variables) {
  llvm::DenseMap<NodeId, NodeId> in_part = VariablesInPart(part);
  llvm::DenseMap<NodeId, SavedVariable*> of_node;
  for (SavedVariable& variable : variables) of_node[variable.node] = &variable;
  for (SavedVariable& known : VariablesOf(*part.whole)) {
    auto node = in_part.find(known.node);
    if (node == in_part.end()) continue;
    known.node = node->second;
    *of_node[node->second] = std::move(known);
  }
}

// Sets what the object graph and the saver say about the variables: `object`, `also`, `key`,
// `trainable` and `is_own`.
void AskObjects(const GraphInFile& graph, llvm::MutableArrayRef<SavedVariable> variables) {
  proto::SavedObjectGraph saved;
  if (!ReadSavedObjects(graph, &saved)) return;
  FindObjects(graph, saved, variables);
  const llvm::DenseSet<int> again = ListedAgain(saved);
  for (SavedVariable& variable : variables) {
    if (variable.object >= 0)
      variable.trainable = saved.nodes(variable.object).variable().trainable();
  }
  bool has_objects = llvm::any_of(variables, [](const auto& one) { return one.object >= 0; });
  for (SavedVariable& variable : variables)
    variable.is_own = !has_objects || (variable.object >= 0 && !again.contains(variable.object));
}

// Sets `trainable` and `is_own` of the variables without an object from TF1's collections.
void AskCollections(const GraphInFile& graph, llvm::MutableArrayRef<SavedVariable> variables) {
  llvm::StringMap<bool> trainable;
  for (const Collection& collection : graph.collections) {
    bool trained = collection.name == "trainable_variables";
    if (!trained && collection.name != "variables") continue;
    for (const std::string& value : collection.values)
      trainable[ReadTensorName(value).node] |= trained;
  }
  if (llvm::none_of(variables, [&](const auto& one) { return trainable.count(one.name); })) return;
  for (SavedVariable& variable : variables) {
    if (variable.object >= 0) continue;
    auto found = trainable.find(variable.name);
    variable.is_own = found != trainable.end();
    if (variable.is_own) variable.trainable = found->second;
  }
}

}  // namespace

bool IsGeneratorState(llvm::StringRef variable) {
  return variable.ends_with("seed_generator_state");
}

std::string NameOfVariable(const Node& node) {
  std::string name = node.GetString("shared_name");
  return name.empty() ? node.name().str() : name;
}

int64_t SavedVariable::elements() const {
  return shape.IsFullyKnown() ? shape.NumElements().value_or(-1) : -1;
}

llvm::DenseMap<NodeId, NodeId> VariablesInPart(const GraphInFile& part) {
  llvm::StringMap<NodeId> in_part;
  for (Node node : part.module->main.nodes()) {
    if (IsVariable(node)) in_part.try_emplace(NameOfVariable(node), node.id());
  }
  llvm::DenseMap<NodeId, NodeId> nodes;
  for (Node node : part.whole->module->main.nodes()) {
    auto found = IsVariable(node) ? in_part.find(NameOfVariable(node)) : in_part.end();
    if (found != in_part.end()) nodes[node.id()] = found->second;
  }
  return nodes;
}

std::vector<SavedVariable> VariablesOf(const GraphInFile& graph) {
  std::vector<SavedVariable> variables;
  for (Node node : graph.module->main.nodes()) {
    if (IsVariable(node)) variables.push_back(AsItStands(node));
  }
  if (variables.empty()) return variables;
  if (graph.whole) {
    AskWhole(graph, variables);
  } else {
    AskObjects(graph, variables);
    AskCollections(graph, variables);
  }
  return variables;
}

std::vector<SavedVariable> OwnVariablesOf(const GraphInFile& graph) {
  std::vector<SavedVariable> variables = VariablesOf(graph);
  llvm::erase_if(variables, [](const SavedVariable& variable) { return !variable.is_own; });
  return variables;
}

std::string VariablesText(llvm::ArrayRef<SavedVariable> own) {
  uint64_t parameters = 0, trained = 0, bytes = 0;
  size_t open = 0;
  bool is_told =
      llvm::any_of(own, [](const auto& variable) { return variable.trainable.has_value(); });
  for (const SavedVariable& variable : own) {
    int64_t elements = variable.elements();
    if (elements < 0) {
      ++open;
      continue;
    }
    parameters += elements;
    bytes += elements * DataTypeSize(variable.dtype);
    if (variable.trainable.value_or(false)) trained += elements;
  }
  std::string text = Plural(own.size(), "variable") + ": " + Plural(parameters, "parameter");
  if (is_told) text += " (" + WithCommas(trained) + " trainable)";
  text += ", " + HumanBytes(bytes);
  if (open > 0) text += "; " + WithCommas(open) + " of unknown shape";
  return text;
}

}  // namespace grapnel
