#include "lib/render/flow_order.h"

#include <algorithm>

namespace grapnel {
namespace {

// A member comes early in the order if its longest path to the end of the flow exceeds that of one
// of its readers by more than this, and by more than a quarter of the longest path of all.
constexpr uint32_t kFar = 12;

void SortOut(FlowEdges* edges) {
  std::sort(edges->begin(), edges->end());
  edges->erase(std::unique(edges->begin(), edges->end()), edges->end());
}

// The inputs or (if `readers`) the readers of each member, in the order of `edges`.
struct Neighbors {
  std::vector<uint32_t> first, other;
  Neighbors(uint32_t count, const FlowEdges& edges, bool readers) : first(count + 1, 0) {
    other.resize(edges.size());
    for (auto [from, to] : edges) ++first[(readers ? from : to) + 1];
    for (uint32_t i = 0; i < count; ++i) first[i + 1] += first[i];
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (auto [from, to] : edges) other[next[readers ? from : to]++] = readers ? to : from;
  }
};

// Returns members in postorder of a depth-first walk along `next` from each of `roots`.
std::vector<uint32_t> LeftOrder(const Neighbors& next, const std::vector<uint32_t>& roots) {
  size_t count = next.first.size() - 1;
  std::vector<uint32_t> order, at(next.first.begin(), next.first.end() - 1), stack;
  std::vector<bool> seen(count, false);
  order.reserve(count);
  for (uint32_t root : roots) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back(root);
    while (!stack.empty()) {
      uint32_t member = stack.back();
      if (at[member] == next.first[member + 1]) {
        order.push_back(member);
        stack.pop_back();
        continue;
      }
      uint32_t to = next.other[at[member]++];
      if (seen[to]) continue;
      seen[to] = true;
      stack.push_back(to);
    }
  }
  return order;
}

std::vector<uint32_t> AllOf(uint32_t count) {
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

}  // namespace

std::vector<uint32_t> FlowOrder(uint32_t count, FlowEdges edges) {
  SortOut(&edges);
  std::vector<uint32_t> first(count + 1, 0), waits(count, 0), order;
  for (auto [from, to] : edges) {
    ++first[from + 1];
    ++waits[to];
  }
  for (uint32_t i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<bool> done(count, false);
  std::vector<uint32_t> ready;
  auto run = [&] {
    while (!ready.empty()) {
      uint32_t member = ready.back();
      ready.pop_back();
      if (done[member]) continue;
      done[member] = true;
      order.push_back(member);
      for (uint32_t i = first[member + 1]; i-- > first[member];) {
        uint32_t to = edges[i].second;
        if (waits[to] > 0 && --waits[to] == 0) ready.push_back(to);
      }
    }
  };
  for (uint32_t i = count; i-- > 0;) {
    if (waits[i] == 0) ready.push_back(i);
  }
  run();
  for (uint32_t i = 0; i < count; ++i) {  // members on cycles, and members that follow cycles
    if (done[i]) continue;
    ready.push_back(i);
    run();
  }
  return order;
}

std::vector<uint32_t> DataFlowOrder(uint32_t count, FlowEdges edges) {
  SortOut(&edges);
  Neighbors inputs(count, edges, false), readers(count, edges, true);
  // By member, the lengths of the longest paths from the beginning (level) and to the end (height),
  // and the smallest height of its readers (least).
  std::vector<uint32_t> level(count, 0), height(count, 0), least(count, ~uint32_t{0});
  std::vector<uint32_t> order = FlowOrder(count, edges);
  for (uint32_t member : order) {
    for (uint32_t i = inputs.first[member]; i < inputs.first[member + 1]; ++i)
      level[member] = std::max(level[member], level[inputs.other[i]] + 1);
  }
  for (size_t at = count; at-- > 0;) {
    uint32_t member = order[at];
    for (uint32_t i = readers.first[member]; i < readers.first[member + 1]; ++i) {
      height[member] = std::max(height[member], height[readers.other[i]] + 1);
      least[member] = std::min(least[member], height[readers.other[i]]);
    }
  }
  uint32_t far = count ? std::max(kFar, *std::max_element(level.begin(), level.end()) / 4) : 0;
  std::vector<uint32_t> wanted;
  for (uint32_t i = 0; i < count; ++i) {
    bool is_end = readers.first[i] == readers.first[i + 1];
    if (is_end || height[i] > least[i] + far) wanted.push_back(i);
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](uint32_t a, uint32_t b) { return level[a] < level[b]; });
  // Inputs with the longest paths come first, so that members of shorter paths are placed right
  // before their reader.
  for (uint32_t i = 0; i < count; ++i) {
    auto begin = inputs.other.begin();
    std::stable_sort(begin + inputs.first[i], begin + inputs.first[i + 1],
                     [&](uint32_t a, uint32_t b) { return level[a] > level[b]; });
  }
  // Also begin at every member: no other root leads to the members on a cycle that no path leaves.
  for (uint32_t i = 0; i < count; ++i) wanted.push_back(i);
  return LeftOrder(inputs, wanted);
}

std::vector<uint32_t> CyclesOf(uint32_t count, FlowEdges edges) {
  SortOut(&edges);
  Neighbors inputs(count, edges, false), readers(count, edges, true);
  std::vector<uint32_t> order = LeftOrder(readers, AllOf(count));
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> cycle(count, kNone), stack;
  for (size_t i = order.size(); i-- > 0;) {
    if (cycle[order[i]] != kNone) continue;
    stack.push_back(order[i]);
    cycle[order[i]] = order[i];
    while (!stack.empty()) {
      uint32_t member = stack.back();
      stack.pop_back();
      for (uint32_t k = inputs.first[member]; k < inputs.first[member + 1]; ++k) {
        uint32_t from = inputs.other[k];
        if (cycle[from] != kNone) continue;
        cycle[from] = order[i];
        stack.push_back(from);
      }
    }
  }
  return cycle;
}

}  // namespace grapnel
