// Pairs the nodes of two graphs of similar structure but different names, starting at their ends.
#ifndef GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
#define GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_

#include <utility>
#include <vector>

#include "lib/ir/graph.h"

namespace grapnel {

// Starts with nodes of the same name and op that no data edge leaves (in both graphs, then in one
// of them), then with loops of one name, and follows data edges backwards, from input i of one node
// to input i of the other, ignoring Identity. Nodes of different ops are paired if their inputs
// match. A node is in at most one pair, the one nearest to the end. Cost: linear, for a loop
// quadratic in its variables.
std::vector<std::pair<Node, Node>> PairBackwards(const Graph& a, const Graph& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
