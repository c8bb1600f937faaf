// An order of siblings in which neighbours belong together.
#ifndef GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
#define GRAPNEL_LIB_RENDER_FLOW_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace grapnel {

// Members 0 .. count-1 in an order in which each comes after what it reads, and what is connected
// stays together: the reader that became ready last comes next. Members on a cycle come in the
// order of their numbers. Linear, and log for edges, which may repeat.
std::vector<uint32_t> FlowOrder(uint32_t count, std::vector<std::pair<uint32_t, uint32_t>> edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
