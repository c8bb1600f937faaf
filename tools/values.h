// Values that commands feed, compare and save: .npy files, generated feeds, case folders.
#ifndef GRAPNEL_TOOLS_VALUES_H_
#define GRAPNEL_TOOLS_VALUES_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/module.h"

namespace grapnel {

// The .npy file as a tensor of the dtype that `tensor` has in the graph.
Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef file);

// The same values, a little different in each repeat: floats scaled by 1 + repeat / 4096, so that
// nothing can be remembered from the last run. Other dtypes stay: an index or a length must go on
// meaning what it meant.
Expected<Tensor> Vary(const Tensor& feed, int repeat);

// Whether `got` is `expected` within max(atol + rtol * |expected|, 2 ulp); NaN equals NaN; dtype
// and shape must be equal.
struct Comparison {
  bool same = true;
  double max_error = 0;  // largest |got - expected|
  std::string message;   // why not
};
Comparison Compare(const Literal& got, const Literal& expected, double rtol, double atol);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_VALUES_H_
