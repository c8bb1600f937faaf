// Matrix products of halves in the order and with the rounding of those TensorFlow kernels that
// multiply halves directly: Einsum's. (TensorFlow's MatMul, BatchMatMul and Conv2D convert to
// float.)
#ifndef GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_

#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {

// Inputs and result are halves held as floats. Every sum rounds at each step, so the error grows
// with each of the k steps. Slow; use it only to reproduce TensorFlow's digits.
Error HalfGemm(KernelContext& ctx, const BatchedShape& shape, const float* a, const float* b,
               float* c);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_
