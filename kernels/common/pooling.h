// What pools and their gradients share: sizes and strides, from attributes or from inputs.
#ifndef GRAPNEL_KERNELS_COMMON_POOLING_H_
#define GRAPNEL_KERNELS_COMMON_POOLING_H_

#include <vector>

#include "kernels/common/window.h"

namespace grapnel {

struct PoolAttrs {
  WindowAttrs window;
  std::vector<int64_t> sizes;

  // The window over `input`, whose rank is checked.
  Expected<Window> Resolve(llvm::ArrayRef<int64_t> input) const;
};

// What has to hold of sizes and strides, whether they came as attributes or as inputs.
Error CheckPool(const PoolAttrs& attrs, bool is_max);

// `attrs` of an op that takes ksize and strides as inputs `first` and `first + 1`.
Error ReadPoolInputs(const KernelContext& ctx, int first, bool is_max, PoolAttrs& attrs);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_POOLING_H_
