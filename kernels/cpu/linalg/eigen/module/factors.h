// Eigen's SVD, QR and Cholesky decomposition. Each dtype has one file, factors_*.cpp, because the
// three share much of what they compile.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_FACTORS_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_FACTORS_H_

#include <algorithm>
#include <complex>

#include "Eigen/Cholesky"
#include "Eigen/QR"
#include "Eigen/SVD"
#include "kernels/cpu/linalg/eigen_api.h"

// The SVD of a complex matrix uses that of a real one: factors_double.cpp instantiates it.
extern template Eigen::JacobiSVD<Eigen::MatrixXd>& Eigen::JacobiSVD<Eigen::MatrixXd>::compute(
    const Eigen::MatrixXd&, unsigned);

namespace grapnel {

template <typename T>
using FactorRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Uses column-major matrices, as Eigen's algorithm does internally: row-major ones would
// instantiate all of it again.
template <typename T>
void EigenSvd(const T* in, int64_t m, int64_t n, bool full, double* s, T* u, T* v) {
  using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  int64_t k = std::min(m, n);
  unsigned options = !u     ? 0
                     : full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                            : Eigen::ComputeThinU | Eigen::ComputeThinV;
  Eigen::BDCSVD<Columns> svd(Eigen::Map<const FactorRows<T>>(in, m, n), options);
  Eigen::Map<Eigen::VectorXd>(s, k) = svd.singularValues();
  if (!u) return;
  Eigen::Map<FactorRows<T>>(u, m, full ? m : k) = svd.matrixU();
  Eigen::Map<FactorRows<T>>(v, n, full ? n : k) = svd.matrixV();
}

template <typename T>
void EigenQr(const T* in, int64_t m, int64_t n, int64_t k, T* q, T* r) {
  using Matrix = FactorRows<T>;
  Eigen::HouseholderQR<Matrix> qr(Eigen::Map<const Matrix>(in, m, n));
  Matrix left = Matrix::Identity(m, k);
  left.applyOnTheLeft(qr.householderQ());
  Eigen::Map<Matrix>(q, m, k) = left;
  Eigen::Map<Matrix>(r, k, n) = qr.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
}

template <typename T>
bool EigenCholesky(const T* in, int64_t n, T* lower) {
  using Matrix = FactorRows<T>;
  Eigen::LLT<Matrix, Eigen::Lower> llt(Eigen::Map<const Matrix>(in, n, n));
  Eigen::Map<Matrix>(lower, n, n) = Matrix(llt.matrixL());
  return llt.info() == Eigen::Success;
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_FACTORS_H_
