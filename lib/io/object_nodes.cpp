#include "lib/io/object_nodes.h"

#include "lib/io/saved_objects.h"
#include "lib/io/saved_variables.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"

namespace grapnel {

ObjectNodes::ObjectNodes(const GraphInFile& graph, const proto::SavedObjectGraph& saved)
    : graph_(graph), saved_(saved) {
  VisitCaptures(graph, saved, [&](Port given, int object) { Add(object, given); });
  AddVariables();
  for (int i = 0; i < saved.nodes_size(); ++i) {
    if (saved.nodes(i).has_constant()) AddConstant(i);
    if (saved.nodes(i).has_asset()) AddAsset(i);
    if (saved.nodes(i).has_resource()) AddTable(i);
  }
}

Port ObjectNodes::Of(int object) const {
  auto found = ports_.find(object);
  return found == ports_.end() ? Port{kNoNode, 0} : found->second;
}

void ObjectNodes::AddVariables() {
  std::vector<SavedVariable> variables = VariablesOf(graph_);
  for (const SavedVariable& variable : variables) {
    if (variable.object >= 0) Add(variable.object, {variable.node, 0});
  }
  for (const SavedVariable& variable : variables) {
    for (int object : variable.also) Add(object, {variable.node, 0});
  }
}

void ObjectNodes::AddConstant(int object) {
  Node node = graph_.module->main.Find(saved_.nodes(object).constant().operation());
  if (node) Add(object, {node.id(), 0});
}

// The file feeds an asset's path to a placeholder, from which the initializer assigns a variable.
void ObjectNodes::AddAsset(int object) {
  int index = saved_.nodes(object).asset().asset_file_def_index();
  if (index < 0 || static_cast<size_t>(index) >= graph_.assets.size()) return;
  const Graph& main = graph_.module->main;
  auto path = FindTensorIfThere(main, graph_.assets[index].tensor);
  if (!path) return;
  for (const Use& use : main.node(path->node).uses()) {
    Node reader = main.node(use.node);
    if (reader.op() == "AssignVariableOp" && reader.num_inputs() > 0 && reader.input_node(0))
      return Add(object, reader.input(0));
  }
  Add(object, *path);
}

// A table has a function that creates it; the main graph has a node with the same op and name.
void ObjectNodes::AddTable(int object) {
  for (const auto& child : saved_.nodes(object).children()) {
    if (child.local_name() != "_create_resource" || child.node_id() < 0 ||
        child.node_id() >= saved_.nodes_size())
      continue;
    for (const std::string& name : saved_.nodes(child.node_id()).function().concrete_functions()) {
      const Function* maker = graph_.module->FindFunction(name);
      if (!maker) continue;
      for (Node made : maker->body.nodes()) {
        std::string shared = made.GetString("shared_name");
        if (shared.empty()) continue;
        for (Node node : graph_.module->main.nodes()) {
          if (node.op() == made.op() && node.GetString("shared_name") == shared)
            return Add(object, {node.id(), 0});
        }
      }
    }
  }
}

}  // namespace grapnel
