// Arithmetic on variants that hold tensor lists or optionals.
#ifndef GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_
#define GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// Sets output 0 to the value of input 0 with its numbers replaced by zeros.
Error ZerosLikeVariant(KernelContext& ctx);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_VARIANT_SUM_H_
