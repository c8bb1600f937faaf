#include "lib/io/layers/keras_order.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Call = std::pair<int, int>;  // a layer and which of its calls, as Draft::CallOf returns them

class Ordering {
 public:
  Ordering(const Draft& draft, const BodyLayers& found, int container, llvm::ArrayRef<int> places)
      : draft_(draft),
        found_(found),
        graph_(*found.body->graph),
        container_(container),
        places_(places) {
    for (NodeId node : found.body->nodes) {
      Call call = At(node);
      if (call.first < 0) continue;
      if (numbers_.try_emplace(call, static_cast<int>(calls_.size())).second)
        calls_.push_back(call);
    }
    for (size_t i = 0; i < draft.layers.size(); ++i) {
      if (draft.layers[i].parent == container) layers_.push_back(static_cast<int>(i));
    }
  }

  // Orders the layers that have nodes.
  std::vector<int> Order() && {
    FindSources();
    Walk();
    FindDistances();
    std::vector<int> order;
    for (int layer : layers_) {
      if (distances_.count(layer)) order.push_back(layer);
    }
    llvm::stable_sort(order, [&](int a, int b) {
      if (distances_[a] != distances_[b]) return distances_[a] > distances_[b];
      return WalkOf(a) < WalkOf(b);
    });
    SortByPlace(&order);
    return order;
  }

 private:
  // Returns the call that has a node. A helper that a layer got from outside of its scope, such as
  // a cast of its input, is in none.
  Call At(NodeId node) const {
    Call call = draft_.CallOf(found_, container_, node);
    bool is_outside = call.first >= 0 && call.second < 0 && !draft_.layers[call.first].is_operator;
    return is_outside ? Call{-1, -1} : call;
  }
  int CallOf(NodeId node) const {
    auto found = numbers_.find(At(node));
    return found == numbers_.end() ? -1 : found->second;
  }

  // Returns the calls whose results reach a node, directly or through nodes that are in no layer of
  // the container; for a node in a call, the call itself.
  llvm::ArrayRef<int> Reaching(NodeId node) const {
    auto found = node == kNoNode ? reaching_.end() : reaching_.find(node);
    if (found == reaching_.end()) return {};
    return found->second;
  }

  void FindReaching() {
    for (NodeId id : TopologicalOrder(graph_)) {
      if (found_.scopes.Of(id) < 0) continue;
      std::vector<int> calls;
      if (int call = CallOf(id); call >= 0) {
        calls.push_back(call);
      } else {
        Node node = graph_.node(id);
        for (int i = 0; i < node.num_inputs(); ++i) {
          for (int one : Reaching(node.input(i).node)) {
            if (!llvm::is_contained(calls, one)) calls.push_back(one);
          }
        }
      }
      reaching_[id] = std::move(calls);
    }
  }

  void FindSources() {
    sources_.resize(calls_.size());
    readers_.resize(calls_.size());
    FindReaching();
    std::vector<std::vector<NodeId>> exits(calls_.size()), nodes(calls_.size());
    for (NodeId id : found_.body->nodes) {
      int call = CallOf(id);
      if (call < 0) continue;
      nodes[call].push_back(id);
      bool is_exit = llvm::any_of(graph_.node(id).uses(),
                                  [&](const Use& use) { return CallOf(use.node) != call; });
      if (is_exit) exits[call].push_back(id);
    }
    std::vector<bool> seen(graph_.end_id(), false);
    for (size_t i = 0; i < calls_.size(); ++i) {
      for (NodeId id : exits[i]) FindSourcesOf(static_cast<int>(i), id, &seen);
      for (NodeId id : nodes[i]) FindSourcesOf(static_cast<int>(i), id, &seen);
    }
    FindOutputs();
    HandOn();
  }

  // Adds the calls from which a node of `call` computes its value, in the order in which the node
  // reads them.
  void FindSourcesOf(int call, NodeId id, std::vector<bool>* seen) {
    std::vector<NodeId> todo = {id};
    while (!todo.empty()) {
      NodeId at = todo.back();
      todo.pop_back();
      if (CallOf(at) != call) {
        for (int one : Reaching(at)) {
          if (one == call || llvm::is_contained(sources_[call], one)) continue;
          sources_[call].push_back(one);
          readers_[one].push_back(call);
        }
        continue;
      }
      if ((*seen)[at]) continue;
      (*seen)[at] = true;
      Node node = graph_.node(at);
      for (int i = node.num_inputs(); i-- > 0;) {
        if (node.input(i).node != kNoNode) todo.push_back(node.input(i).node);
      }
    }
  }

  // A layer whose result nothing reads, such as one that only adds a loss, hands its input on: it
  // is between its source and those that read the source after it.
  void HandOn() {
    for (size_t i = 0; i < calls_.size(); ++i) {
      int call = static_cast<int>(i);
      if (!readers_[call].empty() || llvm::is_contained(outputs_, call)) continue;
      if (sources_[call].size() != 1) continue;
      std::vector<int>& around = readers_[sources_[call][0]];
      for (int reader : around) {
        if (reader <= call) continue;
        readers_[call].push_back(reader);
        std::replace(sources_[reader].begin(), sources_[reader].end(), sources_[call][0], call);
      }
      llvm::erase_if(around, [&](int reader) { return reader > call; });
    }
  }

  void FindOutputs() {
    auto add = [&](NodeId node) {
      for (int call : Reaching(node)) {
        if (!llvm::is_contained(outputs_, call)) outputs_.push_back(call);
      }
    };
    if (container_ < 0) {
      for (Port output : found_.body->outputs) add(output.node);
      return;
    }
    for (NodeId id : found_.body->nodes) {
      bool is_inside = draft_.Common(found_.of_node[id], container_) == container_;
      if (!is_inside) continue;
      for (const Use& use : graph_.node(id).uses()) {
        bool is_read = !graph_.node(use.node).input(static_cast<int>(use.slot)).IsControl() &&
                       draft_.Common(found_.of_node[use.node], container_) != container_;
        if (is_read) {
          add(id);
          break;
        }
      }
    }
  }

  // Sets the distances from the outputs, the least that agree with the edges, the order of calls
  // and that of variables.
  void FindDistances() {
    std::vector<int> of_call(calls_.size(), 0);
    std::vector<int> listed;  // layers in the order of their variables
    for (int layer : layers_) {
      if (places_[layer] >= 0) listed.push_back(layer);
    }
    llvm::sort(listed, [&](int a, int b) { return places_[a] < places_[b]; });
    bool changes = true;
    // Contradictory orders, as of a layer that is called at several distances, may never settle.
    for (size_t round = 0; changes && round < 8; ++round) {
      changes = false;
      int after = 0;
      for (size_t i = calls_.size(); i-- > 0;) {
        int& distance = of_call[i];
        int least = std::max({distance, after, distances_[calls_[i].first]});
        for (int reader : readers_[i]) least = std::max(least, of_call[reader] + 1);
        // At one distance, Keras runs calls in the order in which it meets them.
        bool is_early = i + 1 < calls_.size() && met_[i] > met_[i + 1];
        if (least == after && is_early) ++least;
        changes |= least != distance;
        after = distance = least;
        int& of_layer = distances_[calls_[i].first];
        of_layer = std::max(of_layer, distance);
      }
      for (size_t i = listed.size(); i-- > 1;) {
        auto later = distances_.find(listed[i]), earlier = distances_.find(listed[i - 1]);
        if (later == distances_.end() || earlier == distances_.end()) continue;
        changes |= earlier->second < later->second;
        earlier->second = std::max(earlier->second, later->second);
      }
    }
  }

  // Numbers the layers in the order in which Keras walks from the outputs back, and the calls in
  // that in which it then meets them: from the last that the walk leaves to the first, each before
  // its sources.
  void Walk() {
    std::vector<int> roots = outputs_, left;
    for (size_t i = 0; i < calls_.size(); ++i) {
      int call = static_cast<int>(i);
      if (readers_[i].empty() && !llvm::is_contained(outputs_, call)) roots.push_back(call);
    }
    std::vector<bool> seen(calls_.size(), false);
    for (int root : roots) {
      std::vector<std::pair<int, size_t>> path;  // calls, and which source comes next
      auto enter = [&](int call) {
        if (seen[call]) return;
        seen[call] = true;
        walk_.try_emplace(calls_[call].first, static_cast<int>(walk_.size()));
        path.push_back({call, 0});
      };
      enter(root);
      while (!path.empty()) {
        auto& [call, next] = path.back();
        if (next < sources_[call].size()) {
          enter(sources_[call][next++]);
        } else {
          left.push_back(call);
          path.pop_back();
        }
      }
    }
    met_.assign(calls_.size(), -1);
    int count = 0;
    auto meet = [&](int call) {
      if (met_[call] < 0) met_[call] = count++;
    };
    for (int call : llvm::reverse(left)) {
      meet(call);
      for (int source : sources_[call]) meet(source);
    }
  }
  int WalkOf(int layer) const {
    auto found = walk_.find(layer);
    return found == walk_.end() ? static_cast<int>(walk_.size()) : found->second;
  }

  // Among layers at the same distance, brings those with variables into the order of these.
  void SortByPlace(std::vector<int>* order) {
    for (size_t begin = 0; begin < order->size();) {
      size_t end = begin;
      std::vector<size_t> where;
      std::vector<int> listed;
      for (; end < order->size() && distances_[(*order)[end]] == distances_[(*order)[begin]];
           ++end) {
        if (places_[(*order)[end]] < 0) continue;
        where.push_back(end);
        listed.push_back((*order)[end]);
      }
      llvm::sort(listed, [&](int a, int b) { return places_[a] < places_[b]; });
      for (size_t i = 0; i < where.size(); ++i) (*order)[where[i]] = listed[i];
      begin = end;
    }
  }

  const Draft& draft_;
  const BodyLayers& found_;
  const Graph& graph_;
  const int container_;
  llvm::ArrayRef<int> places_;
  std::vector<int> layers_;
  std::vector<Call> calls_;  // in the order of their first nodes
  std::map<Call, int> numbers_;
  llvm::DenseMap<NodeId, std::vector<int>> reaching_;
  std::vector<std::vector<int>> sources_, readers_;  // by call
  std::vector<int> outputs_;                         // calls that make them
  std::vector<int> met_;                             // by call: when Keras meets it
  std::map<int, int> distances_, walk_;              // by layer
};

// Inserts `layer`, which has no nodes, after the layer whose variables come before its own.
void Insert(int layer, llvm::ArrayRef<int> places, std::vector<int>* order) {
  auto at = order->end();
  int before = -1;
  for (auto one = order->begin(); one != order->end() && places[layer] >= 0; ++one) {
    int place = places[*one];
    if (place < before || place > places[layer]) continue;
    before = place;
    at = one + 1;
  }
  if (before < 0 && places[layer] >= 0) at = order->begin();
  order->insert(at, layer);
}

}  // namespace

std::vector<int> OrderOfLayers(const Draft& draft, const BodyLayers& found, int container,
                               llvm::ArrayRef<int> places, llvm::ArrayRef<NodeId> first) {
  bool is_functional =
      container < 0 ? draft.model_is_functional : draft.layers[container].is_functional;
  std::vector<int> order, unseen;
  for (size_t i = 0; i < draft.layers.size(); ++i) {
    if (draft.layers[i].parent != container) continue;
    (first[i] == kNoNode ? unseen : order).push_back(static_cast<int>(i));
  }
  if (is_functional)
    order = Ordering(draft, found, container, places).Order();
  else
    llvm::stable_sort(order, [&](int a, int b) { return first[a] < first[b]; });
  for (int layer : unseen) Insert(layer, places, &order);
  return order;
}

}  // namespace grapnel
