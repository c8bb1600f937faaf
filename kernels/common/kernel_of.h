// Wraps a function as a kernel that needs no preparation.
#ifndef GRAPNEL_KERNELS_COMMON_KERNEL_OF_H_
#define GRAPNEL_KERNELS_COMMON_KERNEL_OF_H_

#include "lib/exec/kernel.h"

namespace grapnel {

template <Error (*kRun)(KernelContext&)>
Expected<KernelFn> KernelOf(const KernelSetup&) {
  return KernelFn(kRun);
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_KERNEL_OF_H_
