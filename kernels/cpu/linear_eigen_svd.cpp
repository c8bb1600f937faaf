#include <algorithm>
#include <complex>

#include "Eigen/SVD"
#include "kernels/cpu/linear_eigen.h"

namespace grapnel {

template <typename T>
void EigenSvd(const T* in, int64_t m, int64_t n, bool full, double* s, T* u, T* v) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  int64_t k = std::min(m, n);
  unsigned options = !u     ? 0
                     : full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                            : Eigen::ComputeThinU | Eigen::ComputeThinV;
  Eigen::BDCSVD<Matrix> svd(Eigen::Map<const Matrix>(in, m, n), options);
  for (int64_t j = 0; j < k; ++j) s[j] = svd.singularValues()[j];
  if (!u) return;
  Eigen::Map<Matrix>(u, m, full ? m : k) = svd.matrixU();
  Eigen::Map<Matrix>(v, n, full ? n : k) = svd.matrixV();
}

template void EigenSvd(const double*, int64_t, int64_t, bool, double*, double*, double*);
template void EigenSvd(const std::complex<double>*, int64_t, int64_t, bool, double*,
                       std::complex<double>*, std::complex<double>*);

}  // namespace grapnel
