#include "lib/ir/kept_order.h"

#include <algorithm>
#include <limits>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if each node's id is larger than the ids of its inputs, as in most files.
bool AreIdsInOrder(const Graph& graph) {
  for (Node node : graph.nodes()) {
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
      NodeId input = node.input(slot).node;
      if (input >= node.id() && input != kNoNode) return false;
    }
  }
  return true;
}

}  // namespace

bool KeptOrder::IsAcyclic(const Graph& graph, const std::vector<NodeId>* changed) {
  is_known_ = (is_known_ && changed && KeepUp(graph, *changed)) || Find(graph);
  end_ = graph.end_id();
  return is_known_;
}

// Gives the new nodes positions. Returns true if each changed node then comes after its inputs, so
// that the graph has no cycle; false if a new order must be computed to find out.
bool KeptOrder::KeepUp(const Graph& graph, const std::vector<NodeId>& changed) {
  auto is_in_place = [&](NodeId id) { return ComesAfterInputs(graph.node(id)); };
  if (are_ids_) {
    if (llvm::all_of(changed, is_in_place)) return true;
    are_ids_ = false;
    places_.resize(end_);
    for (NodeId id = 0; id < end_; ++id) places_[id] = OfId(id);
  }
  return PlaceNew(graph) && llvm::all_of(changed, is_in_place);
}

// Gives each new node a position between those of its inputs and of its readers; false if one finds
// no free position there.
bool KeptOrder::PlaceNew(const Graph& graph) {
  constexpr Place kEnd = std::numeric_limits<Place>::max(), kStep = Place{1} << 20;
  places_.resize(graph.end_id(), 0);
  std::vector<Place> before(graph.end_id() - end_, kEnd);
  for (NodeId id = graph.end_id(); id-- > end_;) {
    if (!graph.IsAlive(id)) continue;
    for (const Use& use : graph.node(id).uses()) {
      Place reader = use.node < end_ ? places_[use.node] : before[use.node - end_];
      before[id - end_] = std::min(before[id - end_], reader);
    }
  }
  for (NodeId id = end_; id < graph.end_id(); ++id) {
    if (!graph.IsAlive(id)) continue;
    Node node = graph.node(id);
    Place after = 0;
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
      NodeId input = node.input(slot).node;
      if (input != kNoNode) after = std::max(after, places_[input]);
    }
    Place room = before[id - end_] - std::min(after, before[id - end_]);
    if (room < 2) return false;
    places_[id] = after + std::min(room / 2, kStep);
  }
  return true;
}

bool KeptOrder::ComesAfterInputs(const Node& node) const {
  for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
    NodeId input = node.input(slot).node;
    if (input != kNoNode && PlaceOf(input) >= PlaceOf(node.id())) return false;
  }
  return true;
}

bool KeptOrder::Find(const Graph& graph) {
  are_ids_ = true;
  places_ = {};
  if (AreIdsInOrder(graph)) return true;
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  std::vector<NodeId> ready;
  ready.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) {
    uint32_t count = 0;
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot)
      count += node.input(slot).node != kNoNode;
    waiting[node.id()] = count;
    if (count == 0) ready.push_back(node.id());
  }
  are_ids_ = false;
  places_.resize(graph.end_id());
  for (size_t at = 0; at < ready.size(); ++at) {
    places_[ready[at]] = OfId(static_cast<NodeId>(at));
    for (const Use& use : graph.node(ready[at]).uses()) {
      if (--waiting[use.node] == 0) ready.push_back(use.node);
    }
  }
  return ready.size() == graph.num_nodes();
}

}  // namespace grapnel
