// Arithmetic of variants that hold lists of tensors or optional values.
#ifndef GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_
#define GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// Output 0: what input 0 holds, with zeros for its numbers.
Error ZerosLikeVariant(KernelContext& ctx);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_
