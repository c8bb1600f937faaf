#include "lib/io/saved_variables.h"

#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Whether variables are trained, by name.
llvm::StringMap<bool> Trainable(const GraphInFile& graph) {
  llvm::StringMap<bool> trainable;
  proto::SavedObjectGraph objects;
  llvm::StringRef bytes = graph.object_graph;
  if (!bytes.empty() && bytes.size() <= INT32_MAX &&
      objects.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    for (const auto& object : objects.nodes()) {
      if (object.has_variable())
        trainable[object.variable().name()] |= object.variable().trainable();
    }
  }
  for (const Collection& collection : graph.collections) {
    bool trained = collection.name == "trainable_variables";
    if (!trained && collection.name != "variables") continue;
    for (const std::string& value : collection.values)
      trainable[ReadTensorName(value).node] |= trained;
  }
  return trainable;
}

}  // namespace

std::string NameOfVariable(const Node& node) {
  std::string name = node.GetString("shared_name");
  return name.empty() ? node.name().str() : name;
}

int64_t SavedVariable::elements() const {
  return shape.IsFullyKnown() ? shape.NumElements().value_or(-1) : -1;
}

std::vector<SavedVariable> VariablesOf(const GraphInFile& graph) {
  std::vector<SavedVariable> variables;
  llvm::StringMap<bool> trainable;
  for (Node node : graph.module->main.nodes()) {
    if (!IsVariable(node)) continue;
    if (variables.empty()) trainable = Trainable(graph);
    SavedVariable variable;
    variable.name = NameOfVariable(node);
    variable.dtype = node.GetType("dtype");
    if (auto attr = node.Attr("shape")) variable.shape = attr->AsShape().value_or(Shape());
    variable.node = node.id();
    auto found = trainable.find(variable.name);
    if (found != trainable.end()) variable.trainable = found->second;
    variables.push_back(std::move(variable));
  }
  return variables;
}

std::vector<SavedVariable> WithoutCopies(std::vector<SavedVariable> variables) {
  auto is_of_object = [](const SavedVariable& variable) { return variable.trainable.has_value(); };
  if (llvm::any_of(variables, is_of_object))
    llvm::erase_if(variables, [&](const auto& variable) { return !is_of_object(variable); });
  return variables;
}

std::string VariablesText(llvm::ArrayRef<SavedVariable> variables) {
  uint64_t parameters = 0, trained = 0, bytes = 0;
  size_t open = 0;
  const std::vector<SavedVariable> own = WithoutCopies(variables.vec());
  bool of_objects = !own.empty() && own.front().trainable.has_value();
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
  if (of_objects) text += " (" + WithCommas(trained) + " trainable)";
  text += ", " + HumanBytes(bytes);
  if (open > 0) text += "; " + WithCommas(open) + " of a shape that is not known";
  return text;
}

}  // namespace grapnel
