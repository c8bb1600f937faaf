// Values that commands feed: those given, and the same a little different.
#ifndef GRAPNEL_TOOLS_VALUES_H_
#define GRAPNEL_TOOLS_VALUES_H_

#include <string>
#include <vector>

#include "lib/check/comparison.h"
#include "lib/exec/feed.h"
#include "lib/ir/module.h"

namespace grapnel {

// The same values, a little different in each repeat: floats scaled by 1 + repeat / 4096, so that
// nothing can be remembered from the last run. Other dtypes stay: an index or a length must go on
// meaning what it meant.
Expected<Tensor> Vary(const Tensor& feed, int repeat);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_VALUES_H_
