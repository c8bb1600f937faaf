// LayersOf: looks through the bodies of a model and puts together what the other files find.
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "lib/io/layers/edge_order.h"
#include "lib/io/layers/keras_order.h"
#include "lib/io/layers/layer_outputs.h"
#include "lib/io/layers/layers.h"
#include "lib/io/layers/object_layers.h"
#include "lib/io/layers/scope_layers.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

proto::SavedObjectGraph ObjectGraphOf(const GraphInFile& file) {
  proto::SavedObjectGraph saved;
  llvm::StringRef bytes = file.object_graph;
  if (bytes.size() > INT32_MAX ||
      !saved.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return {};
  return saved;
}

}  // namespace

class LayerTableWriter {
 public:
  explicit LayerTableWriter(const GraphInFile& file)
      : file_(file),
        whole_(file.whole ? *file.whole : file),
        saved_(ObjectGraphOf(whole_)),
        stated_(ReadStatedLayers(saved_, whole_.keras_metadata)),
        variables_(ParametersOf(file, saved_)) {
    TakeStated();
    for (const ModelVariable& variable : variables_)
      if (!variable.path.empty()) owners_.insert(variable.path.back());
  }

  LayerTable Write() && {
    for (LayerBody& body : BodiesOf(file_, variables_)) Plan(std::move(body), -1);
    while (!todo_.empty()) {
      std::unique_ptr<LayerBody> body = std::move(todo_.front().first);
      int container = todo_.front().second;
      todo_.pop_front();
      LookThrough(std::move(body), container);
    }
    if (stated_.layers.empty()) GiveVariables();
    DropLost();
    WriteLayers();
    return std::move(table_);
  }

 private:
  void TakeStated() {
    std::map<int, int> of_object;
    for (size_t i = 0; i < variables_.size(); ++i) {
      for (int object : variables_[i].objects) {
        of_object[object] = static_cast<int>(i);
        auto name = stated_.variable_names.find(object);
        if (name != stated_.variable_names.end()) variables_[i].told.name = name->second;
      }
    }
    auto parameters = [&](llvm::ArrayRef<int> objects) {
      std::vector<int> found;
      for (int object : objects) {
        auto variable = of_object.find(object);
        if (variable != of_object.end() && !llvm::is_contained(found, variable->second))
          found.push_back(variable->second);
      }
      return found;
    };
    for (const StatedLayer& stated : stated_.layers) {
      DraftLayer& layer = draft_.layers.emplace_back();
      layer.name = stated.name;
      layer.class_name = stated.class_name;
      layer.parent = stated.parent;
      layer.is_model = stated.is_model;
      layer.has_scopes = stated.is_keras;
      layer.variables = parameters(stated.variables);
    }
    if (!stated_.layers.empty()) table_.of_model_ = parameters(stated_.variables);
  }

  void Plan(LayerBody body, int container) {
    bool is_main = body.function.empty();
    if (!is_main && !planned_.insert(body.graph).second) return;
    todo_.emplace_back(std::make_unique<LayerBody>(std::move(body)), container);
  }

  // Finds the layers in a body, and plans to look through the functions that it calls between
  // layers. A function that a layer calls belongs to the layer.
  void LookThrough(std::unique_ptr<LayerBody> body, int container) {
    BodyLayers found =
        stated_.layers.empty()
            ? FindLayersByScopes(*body, variables_, container, !saved_.nodes().empty(), &draft_)
            : FindNodesOfLayers(*body, stated_.model, container, draft_);
    for (NodeId id : body->nodes) {
      Node node = body->graph->node(id);
      if (!MayCallFunctions(node)) continue;
      int layer = found.of_node[id];
      if (layer >= 0 && !draft_.layers[layer].is_model) {
        GiveFunctions(node, layer, !found.names.empty());
      } else {
        for (LayerBody& callee : BodiesCalledBy(node, *body)) Plan(std::move(callee), layer);
      }
    }
    bodies_.push_back(std::move(body));
    found_.push_back(std::move(found));
  }

  // Names the layers in a layer, in a function that the layer calls, such as the body of its loop:
  // there, outer scopes look like calls too, so only those count that a variable is directly in.
  void NameSublayersIn(const Function& function) {
    LayerBody body;
    body.graph = &function.body;
    body.function = function.name().str();
    for (Node node : function.body.nodes())
      if (!IsArgument(node) && !IsResult(node)) body.nodes.push_back(node.id());
    const NameScopes scopes(body);
    std::vector<std::string> names = NamesOfCalls(scopes, body);
    for (int scope = 1; scope < scopes.size(); ++scope) {
      if (owners_.contains(names[scope]))
        table_.sublayers_[body.function][scopes.PathOf(scope)] = names[scope];
    }
  }

  void GiveFunctions(const Node& caller, int layer, bool is_keras3) {
    std::vector<Node> todo = {caller};
    std::set<std::string> seen;
    while (!todo.empty()) {
      Node node = todo.back();
      todo.pop_back();
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* function = node.graph().module().FindFunction(name);
        if (!function || !seen.insert(name.str()).second) continue;
        auto [owner, is_new] = functions_.try_emplace(name.str(), layer);
        if (is_new && is_keras3) NameSublayersIn(*function);
        if (!is_new && owner->second == layer) continue;  // and so are those that it calls
        if (!is_new) owner->second = draft_.Common(owner->second, layer);
        for (Node inner : function->body.nodes()) {
          if (MayCallFunctions(inner)) todo.push_back(inner);
        }
      }
    }
  }

  // Gives each parameter to the layers that read it or, if none does, to the layer that it is named
  // after.
  void GiveVariables() {
    std::vector<std::set<int>> readers(variables_.size());
    for (const BodyLayers& found : found_) {
      for (const auto& [node, reads] : found.body->reads) {
        if (found.scopes.Of(node) < 0) continue;
        for (int variable : reads) readers[variable].insert(found.of_node[node]);
      }
    }
    for (size_t i = 0; i < variables_.size(); ++i) {
      int variable = static_cast<int>(i);
      bool is_read_between = readers[i].erase(-1) > 0;
      if (readers[i].empty() && is_read_between && !draft_.layers.empty())
        table_.of_model_.push_back(variable);
      if (readers[i].empty() && !is_read_between) {
        if (int layer = NamedAfter(variables_[i]); layer >= 0) readers[i].insert(layer);
      }
      for (int layer : readers[i]) draft_.layers[layer].variables.push_back(variable);
    }
  }

  // Returns the layer after which a variable is named that no node reads. The variables of a Keras
  // model have a layer, even if no signature runs it.
  int NamedAfter(const ModelVariable& variable) {
    for (size_t part = variable.path.size(); part-- > 0;) {
      for (size_t i = 0; i < draft_.layers.size(); ++i) {
        const DraftLayer& layer = draft_.layers[i];
        if (layer.name == variable.path[part] && !layer.is_model) return static_cast<int>(i);
      }
    }
    if (draft_.layers.empty() || variable.place < 0 || variable.path.empty()) return -1;
    return draft_.Add(-1, variable.path.back());
  }

  // Finds out which layers left something in the file.
  void DropLost() {
    kept_.assign(draft_.layers.size(), false);
    first_.assign(draft_.layers.size(), kNoNode);
    auto keep = [&](int layer) {
      for (; layer >= 0 && !kept_[layer]; layer = draft_.layers[layer].parent) kept_[layer] = true;
    };
    for (const BodyLayers& found : found_) {
      for (NodeId node : found.body->nodes) keep(found.of_node[node]);
    }
    for (size_t i = 0; i < draft_.layers.size(); ++i) {
      if (!draft_.layers[i].variables.empty()) keep(static_cast<int>(i));
    }
    if (found_.empty()) return;
    for (NodeId node : found_[0].body->nodes) {
      for (int layer = found_[0].of_node[node]; layer >= 0; layer = draft_.layers[layer].parent)
        first_[layer] = std::min(first_[layer], node);
    }
    // Without the objects of a program, nothing says that the nodes are in its order.
    if (saved_.nodes().empty()) first_ = PlacesByEdges(draft_, found_[0], first_);
  }

  void WriteLayers() {
    table_.model_ = stated_.layers.empty() ? draft_.model_name : stated_.model;
    for (ModelVariable& variable : variables_) table_.variables_.push_back(variable.told);
    number_.assign(draft_.layers.size(), -1);
    std::vector<int> users(variables_.size(), 0);
    for (const DraftLayer& layer : draft_.layers) {
      for (int variable : layer.variables) ++users[variable];
    }
    for (const DraftLayer& layer : draft_.layers) {
      int place = -1;
      for (int variable : layer.variables) {
        int one = variables_[variable].place;
        bool is_of_another =  // which it only reads
            users[variable] > 1 && !llvm::is_contained(variables_[variable].path, layer.name);
        if (one >= 0 && !is_of_another && (place < 0 || one < place)) place = one;
      }
      places_.push_back(place);
    }
    AddLayersIn(-1, -1);
    WriteNodes();
    WriteOutputs();
  }

  void AddLayersIn(int parent, int row) {
    std::vector<int> order;
    if (stated_.layers.empty() && !found_.empty()) {
      order = OrderOfLayers(draft_, found_[0], parent, places_, first_);
    } else {
      for (size_t i = 0; i < draft_.layers.size(); ++i) {
        if (draft_.layers[i].parent == parent) order.push_back(static_cast<int>(i));
      }
    }
    for (int one : order) {
      if (!kept_[one]) continue;
      const DraftLayer& from = draft_.layers[one];
      number_[one] = static_cast<int>(table_.layers_.size());
      ModelLayer& layer = table_.layers_.emplace_back();
      layer.name = from.name;
      layer.class_name = from.class_name;
      layer.parent = row;
      layer.is_model = from.is_model;
      layer.variables = from.variables;
      if (from.is_model) AddLayersIn(one, number_[one]);
    }
  }

  void WriteNodes() {
    for (const BodyLayers& found : found_) {
      const LayerBody& body = *found.body;
      llvm::StringMap<int>& nodes = table_.nodes_[body.function];
      for (NodeId id : body.nodes) {
        int layer = found.of_node[id];
        nodes[body.graph->node(id).name()] = layer < 0 ? -1 : number_[layer];
      }
      llvm::StringMap<int>& scopes = table_.scopes_[body.function];
      for (int scope = 1; scope < found.scopes.size(); ++scope) {
        int layer = found.of_scope[scope];
        if (layer < 0) continue;
        std::string path = found.scopes.PathOf(scope);
        scopes[path] = number_[layer];
        bool is_sublayer = found.of_call[scope] < 0 && !found.names.empty();
        if (is_sublayer && !found.names[scope].empty())
          table_.sublayers_[body.function][path] = found.names[scope];
      }
    }
    for (const auto& [name, layer] : functions_) {
      if (layer >= 0) table_.functions_[name] = number_[layer];
    }
  }

  void WriteOutputs() {
    for (const BodyLayers& found : found_) {
      std::vector<std::vector<Port>> outputs =
          OutputsOfLayers(draft_, found, /*shares_scopes=*/!stated_.layers.empty());
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (number_[i] < 0 || !table_.layers_[number_[i]].outputs.empty()) continue;
        for (Port port : outputs[i]) {
          table_.layers_[number_[i]].outputs.push_back(
              {found.body->function, found.body->graph->node(port.node).name().str(), port.index});
        }
      }
    }
  }

  const GraphInFile& file_;
  const GraphInFile& whole_;
  const proto::SavedObjectGraph saved_;
  const StatedLayers stated_;
  std::vector<ModelVariable> variables_;
  llvm::StringSet<> owners_;  // the names of the layers that variables are directly in
  Draft draft_;
  std::deque<std::pair<std::unique_ptr<LayerBody>, int>> todo_;  // with their containers
  std::set<const Graph*> planned_;
  std::vector<std::unique_ptr<LayerBody>> bodies_;
  std::vector<BodyLayers> found_;         // by body
  std::map<std::string, int> functions_;  // the layers that call them
  std::vector<bool> kept_;                // by layer of the draft, as are those below
  std::vector<NodeId> first_;             // in the first body: the first node, or the place
  std::vector<int> places_, number_;
  LayerTable table_;
};

LayerTable LayersOf(const GraphInFile& file) {
  if (!file.module) return {};
  return LayerTableWriter(file).Write();
}

LayerTable LayersOf(const Module& module) {
  GraphInFile file;
  file.module = module.Copy();
  return LayersOf(file);
}

}  // namespace grapnel
