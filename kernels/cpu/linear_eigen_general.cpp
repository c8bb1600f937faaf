#include <complex>

#include "Eigen/Eigenvalues"
#include "kernels/cpu/linear_eigen.h"

namespace grapnel {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

bool EigenDecompose(const Complex* in, int64_t n, Complex* values, Complex* v) {
  Eigen::ComplexEigenSolver<Matrix> eigen(Eigen::Map<const Matrix>(in, n, n), v != nullptr);
  if (eigen.info() != Eigen::Success) return false;
  for (int64_t i = 0; i < n; ++i) values[i] = eigen.eigenvalues()[i];
  if (v) Eigen::Map<Matrix>(v, n, n) = eigen.eigenvectors();
  return true;
}

bool EigenDecompose(const double* in, int64_t n, Complex* values, Complex* v) {
  using Real = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::EigenSolver<Real> eigen(Eigen::Map<const Real>(in, n, n), v != nullptr);
  if (eigen.info() != Eigen::Success) return false;
  for (int64_t i = 0; i < n; ++i) values[i] = eigen.eigenvalues()[i];
  if (v) Eigen::Map<Matrix>(v, n, n) = eigen.eigenvectors();
  return true;
}

bool EigenSchur(const Complex* in, int64_t n, Complex* triangle, Complex* u) {
  Eigen::ComplexSchur<Matrix> schur(Eigen::Map<const Matrix>(in, n, n));
  if (schur.info() != Eigen::Success) return false;
  Eigen::Map<Matrix>(triangle, n, n) = schur.matrixT();
  Eigen::Map<Matrix>(u, n, n) = schur.matrixU();
  return true;
}

}  // namespace grapnel
