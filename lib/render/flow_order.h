// Orders siblings so that connected siblings are next to each other.
#ifndef GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
#define GRAPNEL_LIB_RENDER_FLOW_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace grapnel {

// Pairs of indices: a member (a node or a scope) and one of its readers.
using FlowEdges = std::vector<std::pair<uint32_t, uint32_t>>;

// Returns members 0 .. count-1 in an order in which each comes after its inputs, and connected
// members stay together: the reader that became ready last comes next. If only members on cycles or
// behind them are left, the one with the lowest index comes next. Edges may repeat. Takes time
// linear in members, n log n in edges.
std::vector<uint32_t> FlowOrder(uint32_t count, FlowEdges edges);

// As FlowOrder, but puts each member right before its first reader; only other inputs of that
// reader may come in between. So branches that join follow one another, each as a whole. A member
// that is read many steps later comes early, so that a mask that all layers read comes before the
// first layer. Ignores edges that close a cycle.
std::vector<uint32_t> DataFlowOrder(uint32_t count, FlowEdges edges);

// Returns a number for each member; members have the same number if and only if they are on a cycle
// together. Takes n log n time in edges.
std::vector<uint32_t> CyclesOf(uint32_t count, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
