#include "lib/io/layers/edge_order.h"

#include <set>

namespace grapnel {
namespace {

class EdgeOrder {
 public:
  EdgeOrder(const Draft& draft, const BodyLayers& found, llvm::ArrayRef<NodeId> first)
      : draft_(draft), first_(first), num_layers_(draft.layers.size()) {
    const Graph& graph = *found.body->graph;
    size_t size = num_layers_ + static_cast<size_t>(graph.end_id());
    readers_.resize(size);
    waits_for_.assign(size, 0);
    placed_.assign(size, false);
    std::vector<bool> is_in_body(graph.end_id(), false);
    for (NodeId id : found.body->nodes) is_in_body[id] = true;
    for (NodeId id : found.body->nodes) {
      size_t to = VertexOf(found, id);
      Node node = graph.node(id);
      for (int i = 0; i < node.num_inputs(); ++i) {
        Node input = node.input_node(i);
        if (!input || !is_in_body[input.id()] || input.op() == "NextIteration") continue;
        size_t from = VertexOf(found, input.id());
        if (from == to) continue;
        readers_[from].push_back(to);
        ++waits_for_[to];
      }
    }
    for (NodeId id : found.body->nodes) {
      size_t one = VertexOf(found, id);
      if (one >= num_layers_ && waits_for_[one] == 0) between_.push_back(one);
    }
    for (size_t i = 0; i < num_layers_; ++i) {
      if (first[i] == kNoNode || draft.layers[i].is_model) continue;
      (waits_for_[i] == 0 ? ready_ : waiting_).insert({first[i], i});
    }
  }

  std::vector<NodeId> Places() && {
    std::vector<NodeId> places(num_layers_, kNoNode);
    NodeId count = 0;
    while (!between_.empty() || !ready_.empty() || !waiting_.empty()) {
      if (!between_.empty()) {
        size_t one = between_.back();
        between_.pop_back();
        Place(one);
        continue;
      }
      auto& queue = ready_.empty() ? waiting_ : ready_;
      size_t layer = queue.begin()->second;
      queue.erase(queue.begin());
      for (int outer = static_cast<int>(layer); outer >= 0; outer = draft_.layers[outer].parent)
        if (places[outer] == kNoNode) places[outer] = count;
      ++count;
      Place(layer);
    }
    return places;
  }

 private:
  // Returns a layer without nested ones, or a number after these for a node between such layers.
  size_t VertexOf(const BodyLayers& found, NodeId id) const {
    int layer = found.of_node[id];
    bool is_between = layer < 0 || draft_.layers[layer].is_model;
    return is_between ? num_layers_ + static_cast<size_t>(id) : static_cast<size_t>(layer);
  }

  void Place(size_t one) {
    placed_[one] = true;
    for (size_t reader : readers_[one]) {
      if (--waits_for_[reader] > 0 || placed_[reader]) continue;
      if (reader >= num_layers_) {
        between_.push_back(reader);
      } else if (waiting_.erase({first_[reader], reader}) > 0) {
        ready_.insert({first_[reader], reader});
      }
    }
  }

  const Draft& draft_;
  llvm::ArrayRef<NodeId> first_;
  const size_t num_layers_;
  std::vector<std::vector<size_t>> readers_;  // by vertex: a layer, or a node between layers
  std::vector<size_t> waits_for_;
  std::vector<bool> placed_;
  std::vector<size_t> between_;                          // nodes that can be placed
  std::set<std::pair<NodeId, size_t>> ready_, waiting_;  // layers by their first node
};

}  // namespace

std::vector<NodeId> PlacesByEdges(const Draft& draft, const BodyLayers& found,
                                  llvm::ArrayRef<NodeId> first) {
  return EdgeOrder(draft, found, first).Places();
}

}  // namespace grapnel
