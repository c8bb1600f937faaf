// Which node of one graph is which of another, from what both end with: for graphs that are built
// alike and named otherwise.
#ifndef GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
#define GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_

#include <utility>
#include <vector>

#include "lib/ir/graph.h"

namespace grapnel {

// Begins with namesakes of one op that no data edge leaves (in both, then in one of the graphs),
// then with loops of one name, and goes back along data edges, from input i of one to input i of
// the other; Identity is passed over. An op that is another is paired where what it reads is alike.
// A node is in one pair at most, in that which is nearer to the end. Cost: linear, for a loop
// quadratic in its variables.
std::vector<std::pair<Node, Node>> PairBackwards(const Graph& a, const Graph& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_PAIR_BACKWARDS_H_
