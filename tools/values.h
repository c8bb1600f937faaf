// Values that commands feed: .npy files, and the same a little different.
#ifndef GRAPNEL_TOOLS_VALUES_H_
#define GRAPNEL_TOOLS_VALUES_H_

#include <string>
#include <vector>

#include "lib/debug/comparison.h"
#include "lib/exec/executor.h"
#include "lib/ir/module.h"

namespace grapnel {

// The .npy file as a tensor of the dtype that `tensor` has in the graph.
Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef file);

// The same values, a little different in each repeat: floats scaled by 1 + repeat / 4096, so that
// nothing can be remembered from the last run. Other dtypes stay: an index or a length must go on
// meaning what it meant.
Expected<Tensor> Vary(const Tensor& feed, int repeat);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_VALUES_H_
