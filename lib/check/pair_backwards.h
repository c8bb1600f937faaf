// Pairs the nodes of two graphs of similar structure but different names, starting at their ends.
#ifndef GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
#define GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_

#include <utility>
#include <vector>

#include "lib/ir/graph.h"

namespace grapnel {

// Starts with nodes of the same name and op that have no outgoing data edges in both graphs, then
// with those that have none in one of the graphs, then with loops of the same name. From each pair,
// follows data edges backwards, from input i of one node to input i of the other (for the Merge of
// a conditional, perhaps to its other input), ignoring Identity. In paired loops, pairs variables
// with the same initial value. Nodes of different ops are paired if they have as many inputs, of
// the same ops. A node is in at most one pair, the one that is found first. Cost: linear; quadratic
// in the number of variables of a loop.
std::vector<std::pair<Node, Node>> PairBackwards(const Graph& a, const Graph& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
