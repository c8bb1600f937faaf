// Eigen's matrix products, alone in a file: they take long to compile, and most so under
// sanitizers.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_

#include "kernels/cpu/linalg/gemm_shape.h"

namespace grapnel {

// c = a * b. T is float, double or complex; complex operands are neither transposed nor conjugated
// (that would be Eigen's code four times over, for each).
template <typename T>
void EigenGemm(const GemmShape& shape, const T* a, const T* b, T* c);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_GEMM_H_
