// Decides which outputs of a node a list shows.
#ifndef GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
#define GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_

#include <vector>

#include "lib/ir/node.h"

namespace grapnel {

// Returns, in ascending order, the first thousand of the node's outputs and all outputs that are
// read, even if the op does not have them. In a broken graph, a read output can have any number, so
// the cost does not depend on that number.
std::vector<int32_t> ShownOutputs(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
