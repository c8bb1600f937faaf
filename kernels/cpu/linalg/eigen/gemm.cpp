#include "kernels/cpu/linalg/eigen/gemm.h"

#include <complex>
#include <type_traits>

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
  if constexpr (std::is_floating_point_v<T>) {
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
template void EigenGemm<std::complex<float>>(const GemmShape&, const std::complex<float>*,
                                             const std::complex<float>*, std::complex<float>*);
template void EigenGemm<std::complex<double>>(const GemmShape&, const std::complex<double>*,
                                              const std::complex<double>*, std::complex<double>*);

}  // namespace grapnel
