// The order in which Grappler has its nodes. Its passes sort them, append to them and fill gaps
// with the last; names, and which of two rewrites comes first, follow from it.
#ifndef GRAPNEL_LIB_PASS_NODE_ORDER_H_
#define GRAPNEL_LIB_PASS_NODE_ORDER_H_

#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// The order in which Grappler looks at nodes: breadth first from the nodes without inputs, readers
// in the order that the graph had. Which of two equal nodes survives, and which number a new name
// gets, follow from it. `rank` is a node's place in that earlier order; by id where there is none.
// Nodes on cycles that are no loops are left out.
std::vector<NodeId> GrapplerOrder(const Graph& graph, llvm::ArrayRef<uint32_t> rank = {});

// All live nodes in order of rank; what is newer than the ranks comes last, in order of id.
std::vector<NodeId> RankedNodes(const Graph& graph, llvm::ArrayRef<uint32_t> rank);

// Takes what is not alive out of `order`. From the last on, each leaves its place to what is last
// by then, as where Grappler drops nodes of a graph in place.
void EraseDeadNodes(const Graph& graph, std::vector<NodeId>* order);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_NODE_ORDER_H_
