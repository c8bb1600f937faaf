// Decides which outputs of a node a list shows.
#ifndef GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
#define GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_

#include <vector>

#include "lib/ir/node.h"

namespace grapnel {

// Returns, in ascending order, the first thousand of the node's outputs and all outputs that other
// nodes read, even those that the op does not have. In a broken graph, a node may read output
// 2,000,000,000, so the cost does not grow with the outputs' numbers.
std::vector<int32_t> ShownOutputs(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
