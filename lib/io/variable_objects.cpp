#include "lib/io/variable_objects.h"

#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

llvm::DenseMap<NodeId, int> CapturedObjects(const GraphInFile& graph,
                                            const proto::SavedObjectGraph& saved) {
  llvm::DenseMap<NodeId, int> objects;
  for (Node node : graph.module->main.nodes()) {
    for (llvm::StringRef name : CalledFunctions(node)) {
      auto function = saved.concrete_functions().find(name.str());
      if (function == saved.concrete_functions().end()) continue;
      const auto& captured = function->second.bound_inputs();
      int first = node.num_inputs() - captured.size();
      for (int i = 0; first >= 0 && i < captured.size(); ++i) {
        Node source = node.input_node(first + i);
        bool is_object = captured[i] >= 0 && captured[i] < saved.nodes_size() &&
                         saved.nodes(captured[i]).has_variable();
        if (source && IsVariable(source) && is_object) objects[source.id()] = captured[i];
      }
    }
  }
  return objects;
}

// "Variable" of "Variable_12".
llvm::StringRef WithoutNumber(llvm::StringRef name) {
  llvm::StringRef stem = name.rtrim("0123456789");
  return stem.size() < name.size() && stem.consume_back("_") ? stem : name;
}

bool Fits(const SavedVariable& variable, const proto::SavedVariable& object) {
  Shape shape = Shape::FromProto(object.shape());
  return BaseType(variable.dtype) == BaseType(object.dtype()) &&
         variable.shape.ToString() == shape.ToString();
}

}  // namespace

void FindObjects(const GraphInFile& graph, const proto::SavedObjectGraph& saved,
                 llvm::MutableArrayRef<SavedVariable> variables) {
  const llvm::DenseMap<NodeId, int> captured = CapturedObjects(graph, saved);
  llvm::DenseSet<int> told;
  auto tell = [&](SavedVariable& variable, int object) {
    variable.object = object;
    told.insert(object);
  };
  for (SavedVariable& variable : variables) {
    auto object = captured.find(variable.node);
    if (object != captured.end()) tell(variable, object->second);
  }
  llvm::StringMap<llvm::SmallVector<int, 1>> named;
  for (int i = 0; i < saved.nodes_size(); ++i) {
    if (saved.nodes(i).has_variable()) named[saved.nodes(i).variable().name()].push_back(i);
  }
  for (SavedVariable& variable : variables) {
    auto found = named.find(variable.name);
    bool is_one = found != named.end() && found->second.size() == 1;
    if (variable.object < 0 && is_one) tell(variable, found->second[0]);
  }
  for (SavedVariable& variable : variables) {
    if (variable.object >= 0) continue;
    auto found = named.find(variable.name);
    if (found == named.end()) found = named.find(WithoutNumber(variable.name));
    if (found == named.end()) continue;
    for (int object : llvm::reverse(found->second)) {
      if (told.contains(object) || !Fits(variable, saved.nodes(object).variable())) continue;
      tell(variable, object);
      break;
    }
  }
}

llvm::DenseSet<int> ListedAgain(const proto::SavedObjectGraph& saved) {
  llvm::DenseSet<int> listed, held;
  int list = -1;
  if (saved.nodes_size() > 0) {
    for (const auto& child : saved.nodes(0).children())
      if (child.local_name() == "_all_variables") list = child.node_id();
  }
  for (int i = 0; list >= 0 && i < saved.nodes_size(); ++i) {
    for (const auto& child : saved.nodes(i).children())
      (i == list ? listed : held).insert(child.node_id());
  }
  llvm::DenseSet<int> again;
  for (int object : listed) {
    if (!held.contains(object)) again.insert(object);
  }
  return again;
}

}  // namespace grapnel
