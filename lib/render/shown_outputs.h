// The outputs of a node to list.
#ifndef GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
#define GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_

#include <vector>

#include "lib/ir/node.h"

namespace grapnel {

// In order: the first thousand of the node's outputs, and those that are read, even if the node
// does not have them. A broken graph may refer to any output number, so this never counts up to it.
std::vector<int32_t> ShownOutputs(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
