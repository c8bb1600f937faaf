// Grappler's order of nodes. Grappler's passes sort the list of nodes, append nodes, and fill gaps
// with the last node; new names, and which of two rewrites comes first, depend on that order.
#ifndef GRAPNEL_LIB_PASS_NODE_ORDER_H_
#define GRAPNEL_LIB_PASS_NODE_ORDER_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Returns the order in which Grappler visits nodes: breadth first from the nodes without inputs,
// readers in graph order. The order decides which of two equal nodes survives and which number a
// new name gets. `rank` is a node's position in the previous graph order; empty: order of ids.
// Nodes on cycles that are not loops, and nodes that depend on them, are left out.
std::vector<NodeId> GrapplerOrder(const Graph& graph, llvm::ArrayRef<uint32_t> rank = {});

// All live nodes in order of rank; nodes newer than the ranks come last, in order of id.
std::vector<NodeId> RankedNodes(const Graph& graph, llvm::ArrayRef<uint32_t> rank);

// Removes dead nodes from `order`. From the last gap to the first, each gap is filled with the
// element that is then last, as Grappler does when it drops nodes of a graph in place.
void EraseDeadNodes(const Graph& graph, std::vector<NodeId>* order);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_NODE_ORDER_H_
