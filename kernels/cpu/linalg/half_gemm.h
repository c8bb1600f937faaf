// A product of matrices of halves, in the order and with the rounding of TensorFlow's kernels that
// multiply halves as they are: Einsum's. (MatMul, BatchMatMul and Conv2D there go by way of float.)
#ifndef GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_

#include "kernels/cpu/linalg/gemm.h"

namespace grapnel {

// Inputs and result are halves held as floats. Every sum rounds at each step, so the result has the
// error of a half for each of k steps: slow, and there to give TensorFlow's digits.
Error HalfGemm(KernelContext& ctx, const BatchedShape& shape, const float* a, const float* b,
               float* c);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_HALF_GEMM_H_
