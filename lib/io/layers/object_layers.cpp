#include "lib/io/layers/object_layers.h"

#include <map>
#include <set>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class ObjectLayers {
 public:
  ObjectLayers(const LayerBody& body, llvm::StringRef model, const Draft& draft)
      : body_(body), model_(model), draft_(draft), found_(body), scopes_(found_.scopes) {
    children_.resize(draft.layers.size() + 1);
    for (size_t i = 0; i < draft.layers.size(); ++i) {
      const DraftLayer& layer = draft.layers[i];
      children_[layer.parent + 1].push_back(static_cast<int>(i));
      for (int variable : layer.variables) owners_[variable].push_back(static_cast<int>(i));
    }
    reads_.resize(scopes_.size());
    for (NodeId node : body.nodes) {
      auto reads = body.reads.find(node);
      if (reads == body.reads.end()) continue;
      for (int scope : scopes_.Chain(scopes_.Of(node)))
        reads_[scope].insert(reads->second.begin(), reads->second.end());
    }
  }

  BodyLayers Find(int container) && {
    found_.of_scope[0] = container;
    std::set<int> taken;
    for (int scope : scopes_[0].inner) {
      if (container < 0 && IsModel(scope))
        Open(scope, container);
      else
        Enter(scope, container, "", container, &taken);
    }
    for (NodeId node : body_.nodes) found_.of_node[node] = found_.of_scope[scopes_.Of(node)];
    FollowVariables();
    GiveHelpersToReaders(draft_, &found_);
    return std::move(found_);
  }

 private:
  // True for the scope of the model, which is around those of its layers. One of its layers may
  // have the model's name.
  bool IsModel(int scope) const {
    if (!model_.empty() && !IsNumbered(scopes_[scope].name, model_)) return false;
    return llvm::any_of(scopes_[scope].inner, [&](int inner) {
      return llvm::any_of(children_[0], [&](int layer) {
        llvm::StringRef name = draft_.layers[layer].name;
        return draft_.layers[layer].has_scopes && scopes_[inner].name == name.split('/').first;
      });
    });
  }

  // Finds the scopes of the layers of `container` in `scope`.
  void Open(int scope, int container) {
    found_.of_scope[scope] = container;
    std::set<int> taken;
    for (int inner : scopes_[scope].inner) Enter(inner, container, "", container, &taken);
  }

  // Looks for a layer of `container` whose name is `before` and the name of the scope `inner`; if
  // there is none, the scope belongs to the layer `otherwise`. The name of a layer may have
  // slashes, and so may lie in the scope of another layer. `taken`: the layers found so far.
  void Enter(int inner, int container, const std::string& before, int otherwise,
             std::set<int>* taken) {
    std::string name = before + scopes_[inner].name.str();
    int layer = LayerAt(inner, name, container, *taken);
    if (layer >= 0) {
      taken->insert(layer);
      found_.of_call[inner] = layer;
      if (draft_.layers[layer].is_model) return Open(inner, layer);
      otherwise = layer;
    }
    found_.of_scope[inner] = otherwise;
    bool may_continue = llvm::any_of(children_[container + 1], [&](int child) {
      return llvm::StringRef(draft_.layers[child].name).starts_with(name + "/");
    });
    for (int deeper : scopes_[inner].inner) {
      if (may_continue)
        Enter(deeper, container, name + "/", otherwise, taken);
      else
        Fill(deeper, otherwise);
    }
  }

  // Returns the layer of `container` that has its nodes in the scope; -1 if there is none.
  int LayerAt(int scope, llvm::StringRef name, int container, const std::set<int>& taken) const {
    std::vector<int> exact, numbered;
    for (int child : children_[container + 1]) {
      const DraftLayer& layer = draft_.layers[child];
      if (!layer.has_scopes || !IsNumbered(name, layer.name)) continue;
      (name == layer.name ? exact : numbered).push_back(child);
    }
    // A longer name says more: the scope "conv_1" is that of the layer "conv_1" if there is one.
    llvm::stable_sort(numbered, [&](int a, int b) {
      return draft_.layers[a].name.size() > draft_.layers[b].name.size();
    });
    exact.insert(exact.end(), numbered.begin(), numbered.end());
    for (int layer : exact) {
      if (!reads_[scope].empty() && Reads(scope, layer)) return layer;
    }
    for (int layer : exact) {
      bool may_be = reads_[scope].empty() || draft_.layers[layer].variables.empty();
      if (may_be && !taken.count(layer)) return layer;
    }
    return exact.empty() ? -1 : exact.front();
  }
  bool Reads(int scope, int layer) const {
    return llvm::any_of(reads_[scope], [&](int variable) {
      auto owners = owners_.find(variable);
      return owners != owners_.end() && llvm::any_of(owners->second, [&](int owner) {
               return draft_.Common(owner, layer) == layer;
             });
    });
  }

  void Fill(int scope, int layer) {
    found_.of_scope[scope] = layer;
    for (int inner : scopes_[scope].inner) Fill(inner, layer);
  }

  // Returns the module that owns a variable that the node reads; -1 if there is none.
  int ModuleReadBy(NodeId node) const {
    auto reads = body_.reads.find(node);
    if (reads == body_.reads.end()) return -1;
    for (int variable : reads->second) {
      auto owners = owners_.find(variable);
      if (owners != owners_.end() && !draft_.layers[owners->second[0]].has_scopes)
        return owners->second[0];
    }
    return -1;
  }

  // Finds the nodes of modules: those that read a variable or a value computed from variables
  // alone, and those that compute only with results of one module.
  void FollowVariables() {
    if (llvm::all_of(draft_.layers, [](const auto& layer) { return layer.has_scopes; })) return;
    const Graph& graph = *body_.graph;
    std::vector<bool> is_listed(graph.end_id(), false);
    for (NodeId id : body_.nodes) is_listed[id] = true;
    std::vector<int> weight_of(graph.end_id(), -1);  // the module whose variables a value is of
    for (NodeId id : TopologicalOrder(graph)) {
      if (!is_listed[id] || found_.of_node[id] >= 0) continue;
      Node node = graph.node(id);
      int module = ModuleReadBy(id), from_weights = -1, from_results = -1;
      bool is_weight = true, is_one = true;
      for (int i = 0; i < node.num_inputs(); ++i) {
        NodeId source = node.input(i).node;
        if (source == kNoNode || graph.node(source).op() == "Const") continue;
        if (body_.handles.count(node.input(i))) continue;
        if (weight_of[source] >= 0) {
          if (from_weights < 0) from_weights = weight_of[source];
          continue;
        }
        is_weight = false;
        int result = found_.of_node[source];
        is_one &= result >= 0 && !draft_.layers[result].has_scopes &&
                  (from_results < 0 || from_results == result);
        from_results = result;
      }
      if (module < 0) module = from_weights;
      if (module >= 0 && is_weight) weight_of[id] = module;
      if (module < 0 && is_one) module = from_results;
      if (module >= 0) found_.of_node[id] = module;
    }
  }

  const LayerBody& body_;
  llvm::StringRef model_;
  const Draft& draft_;
  BodyLayers found_;
  const NameScopes& scopes_;
  std::vector<std::vector<int>> children_;  // by layer + 1
  std::map<int, std::vector<int>> owners_;  // of parameters
  std::vector<std::set<int>> reads_;        // the parameters read in a scope
};

}  // namespace

BodyLayers FindNodesOfLayers(const LayerBody& body, llvm::StringRef model, int container,
                             const Draft& draft) {
  return ObjectLayers(body, model, draft).Find(container);
}

}  // namespace grapnel
