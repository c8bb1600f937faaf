// Eigen's SVD. Each dtype has its own file, svd_*.cpp, which contains all that it uses, except that
// the SVD of a complex matrix uses that of a real one by Jacobi rotations.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_SVD_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_SVD_H_

#include <algorithm>
#include <complex>

#include "Eigen/SVD"
#include "kernels/cpu/linalg/eigen_api.h"

// Instantiated in svd_double.cpp.
extern template Eigen::JacobiSVD<Eigen::MatrixXd>& Eigen::JacobiSVD<Eigen::MatrixXd>::compute(
    const Eigen::MatrixXd&, unsigned);

namespace grapnel {

// Uses column-major matrices, as Eigen's algorithm does internally: row-major ones would
// instantiate all of it again.
template <typename T>
void EigenSvd(const T* in, int64_t m, int64_t n, bool full, double* s, T* u, T* v) {
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  int64_t k = std::min(m, n);
  unsigned options = !u     ? 0
                     : full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                            : Eigen::ComputeThinU | Eigen::ComputeThinV;
  Eigen::BDCSVD<Columns> svd(Eigen::Map<const Rows>(in, m, n), options);
  Eigen::Map<Eigen::VectorXd>(s, k) = svd.singularValues();
  if (!u) return;
  Eigen::Map<Rows>(u, m, full ? m : k) = svd.matrixU();
  Eigen::Map<Rows>(v, n, full ? n : k) = svd.matrixV();
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_SVD_H_
