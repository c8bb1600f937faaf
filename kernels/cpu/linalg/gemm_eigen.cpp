#include "kernels/cpu/linalg/gemm_eigen.h"

#include "Eigen/Core"

namespace grapnel {
namespace {

template <typename T, int kOrder>
using Matrix = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, kOrder>, 0,
                          Eigen::OuterStride<>>;

}  // namespace

template <typename T>
void EigenGemm(const GemmShape& s, const T* a, const T* b, T* c) {
  using Stride = Eigen::OuterStride<>;
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Stride> out(
      c, s.m, s.n, Stride(s.c_stride));
  Matrix<T, Eigen::RowMajor> a_plain(a, s.m, s.k, Stride(s.a_stride));
  Matrix<T, Eigen::RowMajor> b_plain(b, s.k, s.n, Stride(s.b_stride));
  if constexpr (!kIsComplex<T>) {
    Matrix<T, Eigen::ColMajor> a_turned(a, s.m, s.k, Stride(s.a_stride));
    Matrix<T, Eigen::ColMajor> b_turned(b, s.k, s.n, Stride(s.b_stride));
    if (s.transpose_a && s.transpose_b) {
      out.noalias() = a_turned * b_turned;
      return;
    }
    if (s.transpose_a) {
      out.noalias() = a_turned * b_plain;
      return;
    }
    if (s.transpose_b) {
      out.noalias() = a_plain * b_turned;
      return;
    }
  }
  out.noalias() = a_plain * b_plain;
}

template void EigenGemm<float>(const GemmShape&, const float*, const float*, float*);
template void EigenGemm<double>(const GemmShape&, const double*, const double*, double*);
template void EigenGemm<Complex64>(const GemmShape&, const Complex64*, const Complex64*,
                                   Complex64*);
template void EigenGemm<Complex128>(const GemmShape&, const Complex128*, const Complex128*,
                                    Complex128*);

}  // namespace grapnel
