// Shared code of pools and their gradients: sizes and strides, from attributes or from inputs.
#ifndef GRAPNEL_KERNELS_COMMON_POOLING_H_
#define GRAPNEL_KERNELS_COMMON_POOLING_H_

#include <vector>

#include "kernels/common/window.h"

namespace grapnel {

struct PoolAttrs {
  WindowAttrs window;
  std::vector<int64_t> sizes;

  // Checks the rank of `input` and returns the window over it.
  Expected<Window> Resolve(llvm::ArrayRef<int64_t> input) const;
};

// Checks sizes and strides, whether they came from attributes or from inputs.
Error CheckPool(const PoolAttrs& attrs, bool is_max);

// Sets and checks the sizes and strides of an op that takes them as inputs `first` and `first + 1`.
Error ReadPoolInputs(const KernelContext& ctx, int first, bool is_max, PoolAttrs& attrs);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_POOLING_H_
