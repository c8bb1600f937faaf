#include "lib/io/layers/scope_layers.h"

#include <algorithm>
#include <set>

#include "lib/io/layers/operators.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class ScopeLayers {
 public:
  ScopeLayers(const LayerBody& body, llvm::ArrayRef<ModelVariable> variables, bool is_object_model,
              Draft* draft)
      : body_(body),
        variables_(variables),
        is_object_model_(is_object_model),
        draft_(*draft),
        found_(body),
        scopes_(found_.scopes),
        calls_(NamesOfCalls(scopes_, body)) {
    is_keras3_ = AreOfKeras3(scopes_, calls_, body, variables);
    facts_.resize(scopes_.size());
    for (NodeId node : body.nodes) {
      auto reads = body.reads.find(node);
      if (reads == body.reads.end()) continue;
      for (int variable : reads->second) Follow(node, variables[variable]);
    }
    SeeComputation();
  }

  BodyLayers Find(int container) && {
    // Without variables, nothing tells the scopes of layers from others.
    if (!is_keras3_ && !facts_[0].has_reads) return std::move(found_);
    int top = TopOf(container);
    if (top > 0 && draft_.layers.empty()) draft_.model_name = NameOf(top);
    Open(top, container);
    for (NodeId node : body_.nodes) {
      if (found_.of_node[node] < 0) found_.of_node[node] = found_.of_scope[scopes_.Of(node)];
    }
    GiveHelpersToReaders(draft_, &found_);
    if (is_keras3_) found_.names = calls_;
    return std::move(found_);
  }

 private:
  // The facts about a name scope. has_reads, computes and has_nodes count the scopes inside it too,
  // at any depth.
  struct Facts {
    std::string name;                    // of the layer, as the variables say; empty: they do not
    bool reads_own = false;              // reads variables of its own
    bool has_reads = false;              // reads variables
    bool computes = false;               // has nodes other than helpers
    bool has_nodes = false;              // has nodes other than constants
    int named_by = 0, not_named_by = 0;  // variables of layers in it, by whether they name it
  };

  bool IsKnownLayer(int scope) const {
    return !scopes_[scope].is_op && (!is_keras3_ || !calls_[scope].empty());
  }
  // Returns the name of the layer of which a scope is a call.
  std::string NameOf(int scope) const {
    if (is_keras3_) return calls_[scope];
    return facts_[scope].name.empty() ? scopes_[scope].name.str() : facts_[scope].name;
  }

  // Returns the index in `chain` of the scope to which a variable belongs that `node` in
  // chain.back() reads.
  size_t OwnerIn(NodeId node, llvm::ArrayRef<int> chain, const ModelVariable& variable) {
    size_t owner = 0;
    if (is_keras3_) {
      for (size_t i = 0; i < chain.size(); ++i) {
        if (!calls_[chain[i]].empty()) owner = i;
      }
      return owner;
    }
    // The deepest scope that the path of the variable names, in the order of the path.
    size_t part = variable.path.size();
    for (size_t i = chain.size(); i-- > 1 && part > 0;) {
      for (size_t j = part; j-- > 0;) {
        if (!IsNumbered(scopes_[chain[i]].name, variable.path[j])) continue;
        facts_[chain[i]].name = variable.path[j];
        owner = std::max(owner, i);
        part = j;
        break;
      }
    }
    // A fused op has the name of its last op, so that an activation reads the constants of a
    // convolution: these are the activation's, not those of the model that both are in.
    bool is_fused = body_.graph->node(node).op().starts_with("_Fused");
    if (is_fused && owner > 0 && owner + 1 < chain.size()) ++owner;
    if (owner > 0) return owner;
    for (size_t i = 1; i < chain.size() && !scopes_[chain[i]].is_op; ++i) owner = i;
    return owner;
  }

  void Follow(NodeId node, const ModelVariable& variable) {
    std::vector<int> chain = scopes_.Chain(scopes_.Of(node));
    size_t owner = OwnerIn(node, chain, variable);
    facts_[chain[owner]].reads_own = true;
    for (size_t i = 0; i <= owner; ++i) {
      Facts& facts = facts_[chain[i]];
      facts.has_reads = true;
      if (i == owner) continue;
      // The names of a frozen graph's constants are scopes.
      bool is_named =
          variable.objects.empty() || llvm::is_contained(variable.path, NameOf(chain[i]));
      // Where Keras builds a layer late, it may leave out all names but that of the model.
      bool is_whole = llvm::is_contained(variable.path, NameOf(chain[owner]));
      facts.named_by += is_named;
      facts.not_named_by += !is_named && is_whole;
    }
  }

  void SeeComputation() {
    const Graph& graph = *body_.graph;
    for (int scope = scopes_.size() - 1; scope >= 0; --scope) {
      Facts& facts = facts_[scope];
      for (NodeId id : scopes_[scope].nodes) {
        facts.computes |= !IsHelper(graph.node(id).op());
        facts.has_nodes |= graph.node(id).op() != "Const";
      }
      for (int inner : scopes_[scope].inner) {
        facts.computes |= facts_[inner].computes;
        facts.has_nodes |= facts_[inner].has_nodes;
      }
    }
  }

  // Returns the scope whose inner scopes are the layers: that of the model, if there is one around
  // all layers.
  int TopOf(int container) const {
    if (container >= 0) return 0;
    int top = 0;
    for (int next = OnlyModelIn(top); next > 0; next = OnlyModelIn(top)) {
      top = next;
      if (is_object_model_ || is_keras3_) break;  // what is in it are nested models
    }
    return top;
  }
  int OnlyModelIn(int outer) const {
    if (facts_[outer].reads_own && outer > 0) return -1;
    int only = -1;
    for (int scope : scopes_[outer].inner) {
      if (scopes_[scope].is_op || !facts_[scope].computes) continue;
      bool reads = facts_[scope].has_reads;
      bool is_named = is_object_model_ || is_keras3_;  // a model, even if it has variables itself
      bool is_model =
          reads && (!facts_[scope].reads_own || (is_named && !ReadersIn(scope).empty()));
      if (facts_[outer].has_reads && !reads) continue;
      if (only >= 0 || (!is_model && (reads || !HasLayers(scope)))) return -1;
      only = scope;
    }
    return only;
  }
  bool HasLayers(int scope) const {
    return llvm::any_of(scopes_[scope].inner, [&](int inner) { return IsKnownLayer(inner); });
  }

  // Returns the layers in a scope that read variables.
  std::vector<int> ReadersIn(int scope) const {
    std::vector<int> readers;
    for (int inner : scopes_[scope].inner) {
      if (IsKnownLayer(inner) && facts_[inner].has_reads) readers.push_back(inner);
    }
    return readers;
  }

  // True if a scope has computation that is not in one of its layers.
  bool ComputesItself(int scope) const {
    for (NodeId id : scopes_[scope].nodes) {
      if (!IsHelper(body_.graph->node(id).op())) return true;
    }
    return llvm::any_of(scopes_[scope].inner,
                        [&](int inner) { return !IsKnownLayer(inner) && facts_[inner].computes; });
  }

  // In a functional model, layers are called outside of the model, so that the model is not in the
  // names of their variables.
  bool IsFunctional(int scope) const {
    return facts_[scope].not_named_by > 0 && facts_[scope].named_by == 0;
  }

  // True if a scope is a model and not one layer. Keras shows a layer that contains layers, such as
  // an attention, as one row. Such a layer computes something itself; of models, only those that a
  // program defines as a class do.
  bool IsModel(int scope) const {
    std::vector<int> readers = ReadersIn(scope);
    if (facts_[scope].reads_own || readers.empty()) return false;
    if (!is_object_model_ && !is_keras3_) {
      // In a frozen graph, the helpers of an op such as bn/batchnorm seem to be a layer.
      bool is_wrapper =
          readers.size() == 1 && scopes_[scope].inner.size() == 1 && facts_[readers[0]].reads_own;
      return !is_wrapper;
    }
    return (IsFunctional(scope) && !IsRepeated(scope)) || !ComputesItself(scope);
  }

  // True for the scope of TimeDistributed, which calls a model for each step and stacks the
  // results.
  bool IsRepeated(int scope) const {
    std::set<std::string> names;
    bool is_repeated = false, stacks = false;
    for (int inner : scopes_[scope].inner)
      is_repeated |= IsKnownLayer(inner) && !names.insert(NameOf(inner)).second;
    for (NodeId id : scopes_[scope].nodes) stacks |= body_.graph->node(id).op() == "Pack";
    return is_repeated && stacks;
  }

  // Adds the layers in `scope`, which is a call of the nested model `container` or of the model.
  void Open(int scope, int container) {
    found_.of_scope[scope] = container;
    bool& is_functional =
        container < 0 ? draft_.model_is_functional : draft_.layers[container].is_functional;
    bool has_layers = llvm::any_of(
        draft_.layers, [&](const DraftLayer& layer) { return layer.parent == container; });
    if (!has_layers) is_functional = is_object_model_ && facts_[scope].named_by == 0;
    if (is_functional && is_keras3_) AddOperators(scope, container);
    for (int inner : scopes_[scope].inner) {
      if (!IsKnownLayer(inner) || !facts_[inner].has_nodes) {
        Fill(inner, container);
        continue;
      }
      int layer = draft_.FindOrAdd(container, NameOf(inner));
      found_.of_call[inner] = layer;
      if (IsModel(inner)) {
        draft_.layers[layer].is_model = true;
        Open(inner, layer);
      } else {
        Fill(inner, layer);
      }
    }
  }

  // Gives all nodes of a scope to `layer`.
  void Fill(int scope, int layer) {
    std::vector<int> todo = {scope};
    while (!todo.empty()) {
      int one = todo.back();
      todo.pop_back();
      found_.of_scope[one] = layer;
      todo.insert(todo.end(), scopes_[one].inner.begin(), scopes_[one].inner.end());
    }
  }

  // Adds the operators between the layers of a functional model, such as x + y. Each call of the
  // model has the same ones in the same order.
  void AddOperators(int scope, int container) {
    std::vector<int> known;
    for (size_t i = 0; i < draft_.layers.size(); ++i) {
      if (draft_.layers[i].parent == container && draft_.layers[i].is_operator)
        known.push_back(static_cast<int>(i));
    }
    auto is_layer = [this](int inner) { return IsKnownLayer(inner); };
    size_t count = 0;
    for (const Operator& one : OperatorsIn(scope, scopes_, body_, is_layer)) {
      bool is_known =
          count < known.size() && IsNumbered(draft_.layers[known[count]].name, one.name);
      int layer = is_known ? known[count] : draft_.Add(container, UnusedName(container, one.name));
      draft_.layers[layer].is_operator = true;
      ++count;
      for (NodeId node : one.nodes) found_.of_node[node] = layer;
    }
  }

  std::string UnusedName(int container, const std::string& name) const {
    auto is_used = [&](const std::string& text) {
      return llvm::any_of(draft_.layers, [&](const DraftLayer& layer) {
        return layer.parent == container && layer.name == text;
      });
    };
    std::string unused = name;
    for (int i = 1; is_used(unused); ++i) unused = name + "_" + std::to_string(i);
    return unused;
  }

  const LayerBody& body_;
  llvm::ArrayRef<ModelVariable> variables_;
  const bool is_object_model_;
  Draft& draft_;
  BodyLayers found_;
  const NameScopes& scopes_;
  const std::vector<std::string> calls_;
  bool is_keras3_;
  std::vector<Facts> facts_;  // by scope
};

}  // namespace

BodyLayers FindLayersByScopes(const LayerBody& body, llvm::ArrayRef<ModelVariable> variables,
                              int container, bool is_object_model, Draft* draft) {
  return ScopeLayers(body, variables, is_object_model, draft).Find(container);
}

}  // namespace grapnel
