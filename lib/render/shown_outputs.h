// Which outputs of a node are listed where they are listed one by one.
#ifndef GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
#define GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_

#include <vector>

#include "lib/ir/node.h"

namespace grapnel {

// In order: the first thousand that the node has, and those that are read, whether it has them or
// not. A broken graph may name an output by any number, so none is counted up to.
std::vector<int32_t> ShownOutputs(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SHOWN_OUTPUTS_H_
