#include "lib/render/flow_order.h"

#include <algorithm>

namespace grapnel {

std::vector<uint32_t> FlowOrder(uint32_t count, std::vector<std::pair<uint32_t, uint32_t>> edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
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
  for (uint32_t i = 0; i < count; ++i) {  // what lies on cycles, and behind them
    if (done[i]) continue;
    ready.push_back(i);
    run();
  }
  return order;
}

}  // namespace grapnel
