// Orders of siblings in which neighbors belong together.
#ifndef GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
#define GRAPNEL_LIB_RENDER_FLOW_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace grapnel {

// From a member to one that reads it, by number.
using FlowEdges = std::vector<std::pair<uint32_t, uint32_t>>;

// Members 0 .. count-1 in an order in which each comes after what it reads, and what is connected
// stays together: the reader that became ready last comes next. Members on a cycle come in the
// order of their numbers. Linear, and log for edges, which may repeat.
std::vector<uint32_t> FlowOrder(uint32_t count, FlowEdges edges);

// As FlowOrder, but each member comes when its reader needs it: right before it stands what nobody
// else reads, and branches that meet stand one after the other, each as a whole. What is read far
// away comes before what needs more steps, so that a mask that all layers read stands before the
// first of them. Edges that close a cycle say nothing.
std::vector<uint32_t> DataFlowOrder(uint32_t count, FlowEdges edges);

// For each member a number; the same for those that lie on a cycle together, and for no others.
// Linear.
std::vector<uint32_t> CyclesOf(uint32_t count, FlowEdges edges);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_FLOW_ORDER_H_
