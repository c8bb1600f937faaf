// Eigen's matrix products, alone in a file because they take long to compile, above all with
// sanitizers.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_

#include "kernels/cpu/linalg/gemm_shape.h"

namespace grapnel {

// c = a * b. T is float, double or complex. Complex operands must be neither transposed nor
// conjugated, which would instantiate Eigen's code four more times per type.
template <typename T>
void EigenGemm(const GemmShape& shape, const T* a, const T* b, T* c);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_
