#include "lib/render/layering.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "lib/render/flow_order.h"

namespace grapnel {
namespace {

constexpr int kSweeps = 8, kPulls = 4;

// An edge, reversed if it runs upwards, so that `from` is above `to`.
struct Down {
  uint32_t from, to, weight;
  uint32_t edge;  // index in the caller's list of edges
};

class LayerMaker {
 public:
  LayerMaker(uint32_t num_items, llvm::ArrayRef<LayerEdge> edges, llvm::ArrayRef<uint32_t> top,
             llvm::ArrayRef<uint32_t> bottom)
      : num_items_(num_items), edges_(edges), top_(top), bottom_(bottom), place_(num_items, 0) {
    for (uint32_t item : top) place_[item] = -1;
    for (uint32_t item : bottom) place_[item] = 1;
  }

  Layering Run() && {
    BreakLoops();
    AssignLayers();
    Pull();
    PinPorts();
    CloseGaps();
    AddBends();
    Order();
    return std::move(result_);
  }

 private:
  // Reverses the edges that the caller marked as `back`, and then more, so that no cycle is left: in
  // cycles of edges of the largest weight, each edge that closes a cycle in a depth-first walk from
  // the top; in other cycles, lighter edges.
  void BreakLoops() {
    result_.upwards.resize(edges_.size());
    for (uint32_t i = 0; i < edges_.size(); ++i) {
      const LayerEdge& edge = edges_[i];
      heaviest_ = std::max(heaviest_, edge.weight);
      if (edge.from == edge.to) continue;
      down_.push_back({edge.from, edge.to, edge.weight, i});
      if (edge.back) Turn(&down_.back());
    }
    for (uint32_t least : {heaviest_, uint32_t{0}}) {
      ListEnds(least);
      std::vector<uint8_t> state(num_items_, 0);  // 1: on the current path, 2: done
      for (bool entered : {false, true}) {
        for (uint32_t item = 0; item < num_items_; ++item) {
          if (in_[item].empty() != entered && state[item] == 0) Walk(item, &state);
        }
      }
      if (least > 0) TurnLight();
    }
    ListEnds();
  }

  // Puts the items in an order in which no heaviest edge runs back, and reverses the lighter edges
  // on cycles that do. These are few, because of the items that may come next, the one with the
  // fewest lighter edges from items that come later is chosen.
  void TurnLight() {
    std::vector<uint32_t> waits(num_items_), light(num_items_), place(num_items_);
    FlowEdges all;
    for (const Down& down : down_) {
      ++(down.weight == heaviest_ ? waits : light)[down.to];
      all.push_back({down.from, down.to});
    }
    std::vector<uint32_t> cycles = CyclesOf(num_items_, std::move(all));
    std::vector<uint32_t> ready;
    for (uint32_t item = 0; item < num_items_; ++item) {
      if (waits[item] == 0) ready.push_back(item);
    }
    ListEnds();
    for (uint32_t next = 0; !ready.empty(); ++next) {
      auto best = std::min_element(ready.begin(), ready.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(light[a], a) < std::pair(light[b], b);
      });
      uint32_t item = *best;
      ready.erase(best);
      place[item] = next;
      for (uint32_t i : out_[item]) {
        const Down& down = down_[i];
        bool is_heavy = down.weight == heaviest_;
        if (!is_heavy) --light[down.to];
        if (is_heavy && --waits[down.to] == 0) ready.push_back(down.to);
      }
    }
    for (Down& down : down_) {
      bool on_cycle = cycles[down.from] == cycles[down.to];
      if (on_cycle && down.weight < heaviest_ && place[down.from] > place[down.to]) Turn(&down);
    }
  }

  void Walk(uint32_t start, std::vector<uint8_t>* state) {
    std::vector<std::pair<uint32_t, size_t>> walk = {{start, 0}};
    (*state)[start] = 1;
    while (!walk.empty()) {
      auto& [item, next] = walk.back();
      if (next == out_[item].size()) {
        (*state)[item] = 2;
        walk.pop_back();
        continue;
      }
      Down& down = down_[out_[item][next++]];
      uint8_t& there = (*state)[down.to];
      uint32_t to = down.to;
      if (there == 1) Turn(&down);
      if (there != 0) continue;
      there = 1;
      walk.push_back({to, 0});
    }
  }

  void Turn(Down* down) {
    std::swap(down->from, down->to);
    result_.upwards[down->edge] = !result_.upwards[down->edge];
  }

  // Lists the edges with at least this weight at their ends.
  void ListEnds(uint32_t least = 0) {
    in_.assign(num_items_, {});
    out_.assign(num_items_, {});
    for (uint32_t i = 0; i < down_.size(); ++i) {
      if (down_[i].weight < least) continue;
      out_[down_[i].from].push_back(i);
      in_[down_[i].to].push_back(i);
    }
  }

  // An item's layer is the length of the longest path to it from the top.
  void AssignLayers() {
    layer_.assign(num_items_, 0);
    std::vector<size_t> waits(num_items_);
    for (uint32_t item = 0; item < num_items_; ++item) {
      waits[item] = in_[item].size();
      if (waits[item] == 0) order_.push_back(item);
    }
    for (size_t at = 0; at < order_.size(); ++at) {
      for (uint32_t i : out_[order_[at]]) {
        uint32_t to = down_[i].to;
        layer_[to] = std::max(layer_[to], layer_[order_[at]] + 1);
        if (--waits[to] == 0) order_.push_back(to);
      }
    }
  }

  // Moves items down as far as possible if edges pull them down at least as strongly as up: a
  // constant moves to its reader.
  void Pull() {
    auto weight = [&](llvm::ArrayRef<uint32_t> edges, int port) {
      uint64_t sum = 0;
      for (uint32_t i : edges) {
        bool is_port = place_[port < 0 ? down_[i].from : down_[i].to] == port;
        sum += is_port ? 0 : down_[i].weight;  // edges to ports do not pull
      }
      return sum;
    };
    for (int round = 0; round < kPulls; ++round) {
      bool moved = false;
      for (size_t i = order_.size(); i-- > 0;) {
        uint32_t item = order_[i];
        if (out_[item].empty() || weight(out_[item], 1) < weight(in_[item], -1)) continue;
        int lowest = layer_[down_[out_[item][0]].to];
        for (uint32_t edge : out_[item]) lowest = std::min(lowest, layer_[down_[edge].to]);
        if (lowest - 1 <= layer_[item]) continue;
        layer_[item] = lowest - 1;
        moved = true;
      }
      if (!moved) return;
    }
  }

  void PinPorts() {
    int first = 0, last = 0;
    for (uint32_t item = 0; item < num_items_; ++item) {
      if (place_[item] != 0) continue;
      first = std::min(first, layer_[item]);
      last = std::max(last, layer_[item]);
    }
    for (uint32_t item = 0; item < num_items_; ++item) {
      if (place_[item] < 0) layer_[item] = first - 1;
      if (place_[item] > 0) layer_[item] = last + 1;
    }
  }

  void CloseGaps() {
    std::map<int, int> number;
    for (int layer : layer_) number[layer] = 0;
    int next = 0;
    for (auto& [layer, index] : number) index = next++;
    for (int& layer : layer_) layer = number[layer];
    result_.layers.resize(next);
  }

  void AddBends() {
    result_.bends.resize(edges_.size());
    result_.num_items = num_items_;
    std::map<std::pair<std::pair<uint32_t, bool>, int>, uint32_t> shared;
    for (const Down& down : down_) {
      uint32_t i = down.edge;
      // Upward edges with the same source, which is their lower end, share bends.
      bool up = result_.upwards[i];
      uint32_t above = down.from;
      for (int layer = layer_[down.from] + 1; layer < layer_[down.to]; ++layer) {
        auto [it, fresh] =
            shared.try_emplace({{up ? down.to : down.from, up}, layer}, result_.num_items);
        if (fresh) {
          ++result_.num_items;
          layer_.push_back(layer);
        }
        result_.bends[i].push_back(it->second);
        Link(above, it->second);
        above = it->second;
      }
      Link(above, down.to);
    }
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
  }

  void Link(uint32_t above, uint32_t below) { links_.push_back({above, below}); }

  void Order() {
    above_.resize(result_.num_items);
    below_.resize(result_.num_items);
    for (auto [above, below] : links_) {
      above_[below].push_back(above);
      below_[above].push_back(below);
    }
    Start();
    std::vector<std::vector<uint32_t>> best = result_.layers;
    uint64_t fewest = Crossings();
    for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
      Sweep(sweep % 2 == 0);
      uint64_t crossings = Crossings();
      if (crossings >= fewest) continue;
      fewest = crossings;
      best = result_.layers;
    }
    result_.layers = std::move(best);
  }

  // Sets the initial order of each layer: the order of a depth-first walk from the top.
  void Start() {
    position_.assign(result_.num_items, 0);
    std::vector<bool> seen(result_.num_items);
    std::vector<uint32_t> by_layer(result_.num_items);
    std::iota(by_layer.begin(), by_layer.end(), 0);
    std::stable_sort(by_layer.begin(), by_layer.end(),
                     [&](uint32_t a, uint32_t b) { return layer_[a] < layer_[b]; });
    std::vector<uint32_t> stack;
    if (!top_.empty()) Fix(top_, 0);
    if (!bottom_.empty()) Fix(bottom_, result_.layers.size() - 1);
    for (uint32_t item : top_) seen[item] = true;
    for (uint32_t item : bottom_) seen[item] = true;
    // The walk starts at the items below those of top_, in the order of top_, and then at all other
    // items.
    std::vector<uint32_t> starts;
    for (uint32_t item : top_)
      starts.insert(starts.end(), below_[item].begin(), below_[item].end());
    starts.insert(starts.end(), by_layer.begin(), by_layer.end());
    for (uint32_t start : starts) {
      stack.push_back(start);
      while (!stack.empty()) {
        uint32_t item = stack.back();
        stack.pop_back();
        if (seen[item]) continue;
        seen[item] = true;
        std::vector<uint32_t>& layer = result_.layers[layer_[item]];
        position_[item] = static_cast<double>(layer.size());
        layer.push_back(item);
        for (size_t i = below_[item].size(); i-- > 0;) stack.push_back(below_[item][i]);
      }
    }
  }

  // Fills the first or the last layer with the caller's `top` or `bottom`, in the given order.
  void Fix(llvm::ArrayRef<uint32_t> items, size_t layer) {
    result_.layers[layer] = items.vec();
    for (size_t i = 0; i < items.size(); ++i) position_[items[i]] = static_cast<double>(i);
  }

  void Sweep(bool down) {
    size_t count = result_.layers.size();
    for (size_t step = 1; step < count; ++step) {
      size_t index = down ? step : count - 1 - step;
      bool given = index == 0 ? !top_.empty() : index == count - 1 && !bottom_.empty();
      if (given) continue;
      std::vector<uint32_t>& layer = result_.layers[index];
      const auto& neighbors = down ? above_ : below_;
      std::vector<std::pair<double, uint32_t>> keyed;
      keyed.reserve(layer.size());
      for (uint32_t item : layer) {
        double sum = 0;
        for (uint32_t other : neighbors[item]) sum += position_[other];
        size_t links = neighbors[item].size();
        keyed.push_back({links ? sum / static_cast<double>(links) : position_[item], item});
      }
      std::stable_sort(keyed.begin(), keyed.end(),
                       [](auto& a, auto& b) { return a.first < b.first; });
      for (size_t i = 0; i < layer.size(); ++i) {
        layer[i] = keyed[i].second;
        position_[layer[i]] = static_cast<double>(i);
      }
    }
  }

  uint64_t Crossings() const {
    uint64_t sum = 0;
    for (size_t i = 0; i + 1 < result_.layers.size(); ++i)
      sum += CrossingsBelow(result_.layers[i], result_.layers[i + 1].size());
    return sum;
  }

  // Counts the crossings of links between a layer and the next one: the inversions in the sequence
  // of their lower ends, counted with a Fenwick tree.
  uint64_t CrossingsBelow(llvm::ArrayRef<uint32_t> layer, size_t width) const {
    std::vector<uint32_t> tree(width + 1, 0);
    uint64_t sum = 0, met = 0;
    std::vector<size_t> ends;
    for (uint32_t item : layer) {
      ends.clear();
      for (uint32_t below : below_[item]) ends.push_back(static_cast<size_t>(position_[below]));
      for (size_t end : ends) {
        uint64_t not_right = 0;
        for (size_t at = end + 1; at > 0; at -= at & (~at + 1)) not_right += tree[at];
        sum += met - not_right;
      }
      for (size_t end : ends) {
        for (size_t at = end + 1; at <= width; at += at & (~at + 1)) ++tree[at];
        ++met;
      }
    }
    return sum;
  }

  const uint32_t num_items_;
  uint32_t heaviest_ = 0;
  llvm::ArrayRef<LayerEdge> edges_;
  llvm::ArrayRef<uint32_t> top_, bottom_;
  std::vector<int> place_;  // by item: -1: in `top`, 1: in `bottom`
  std::vector<Down> down_;  // the edges, without those from an item to itself
  std::vector<std::vector<uint32_t>> in_, out_;
  std::vector<int> layer_;
  std::vector<uint32_t> order_;
  std::vector<std::pair<uint32_t, uint32_t>> links_;  // pairs of items in adjacent layers
  std::vector<std::vector<uint32_t>> above_, below_;
  std::vector<double> position_;
  Layering result_;
};

}  // namespace

void PutAbove(llvm::ArrayRef<uint32_t> above, uint32_t num_items, std::vector<LayerEdge>* edges) {
  if (above.empty()) return;
  std::vector<std::vector<uint32_t>> readers(num_items);
  for (const LayerEdge& edge : *edges) readers[edge.from].push_back(edge.to);
  std::vector<bool> is_above(num_items, false);
  for (uint32_t item : above) is_above[item] = true;
  for (uint32_t item : above) {
    std::vector<bool> reached(num_items, false);
    std::vector<uint32_t> stack = {item};
    while (!stack.empty()) {
      uint32_t from = stack.back();
      stack.pop_back();
      for (uint32_t to : readers[from]) {
        if (!reached[to]) stack.push_back(to);
        reached[to] = true;
      }
    }
    for (LayerEdge& edge : *edges)
      edge.back |= edge.to == item && reached[edge.from] && !is_above[edge.from];
  }
}

Layering MakeLayers(uint32_t num_items, llvm::ArrayRef<LayerEdge> edges,
                    llvm::ArrayRef<uint32_t> top, llvm::ArrayRef<uint32_t> bottom) {
  return LayerMaker(num_items, edges, top, bottom).Run();
}

}  // namespace grapnel
