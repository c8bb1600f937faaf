// The shape of one matrix product.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_GEMM_SHAPE_H_
#define GRAPNEL_KERNELS_CPU_LINALG_GEMM_SHAPE_H_

#include <cstdint>

namespace grapnel {

// c[m, n] = op(a) * op(b) with op(a) [m, k] and op(b) [k, n], all row-major; the strides are
// distances between rows. A transposed operand is stored as [k, m] or [n, k].
struct GemmShape {
  int64_t m, n, k;
  int64_t a_stride, b_stride, c_stride;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;  // complex only
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_GEMM_SHAPE_H_
