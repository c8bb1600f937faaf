// Tells constants that say how to compute from those that are values.
#ifndef GRAPNEL_LIB_DIFF_MEASURES_H_
#define GRAPNEL_LIB_DIFF_MEASURES_H_

#include "lib/ir/module.h"

namespace grapnel {

// True for an integer constant that all its readers use as a shape, an axis or a size.
bool IsMeasure(const Node& constant);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_MEASURES_H_
