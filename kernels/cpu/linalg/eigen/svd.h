// Eigen's SVD in parts that compile in parallel: each template that EigenSvd uses is instantiated
// once, in the svd_*.cpp named after it.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_SVD_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_SVD_H_

#include <algorithm>
#include <complex>

#include "Eigen/SVD"
#include "kernels/cpu/linalg/eigen/decompositions.h"

extern template class Eigen::JacobiSVD<Eigen::MatrixXd>;
extern template class Eigen::JacobiSVD<Eigen::MatrixXcd>;
extern template Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>&
Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>::compute(const Eigen::MatrixXd&);
extern template Eigen::internal::UpperBidiagonalization<Eigen::MatrixXcd>&
Eigen::internal::UpperBidiagonalization<Eigen::MatrixXcd>::compute(const Eigen::MatrixXcd&);

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

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_SVD_H_
