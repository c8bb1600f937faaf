#include <complex>

#include "Eigen/Eigenvalues"
#include "kernels/cpu/linear_eigen.h"

namespace grapnel {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Complex = std::complex<double>;

template <typename Solver, typename T, typename C>
bool Decompose(const T* in, int64_t n, C* values, C* v) {
  Solver eigen(Eigen::Map<const Matrix<T>>(in, n, n), v != nullptr);
  if (eigen.info() != Eigen::Success) return false;
  for (int64_t i = 0; i < n; ++i) values[i] = eigen.eigenvalues()[i];
  if (v) Eigen::Map<Matrix<C>>(v, n, n) = eigen.eigenvectors();
  return true;
}

}  // namespace

template <typename T>
bool EigenDecompose(const T* in, int64_t n, std::complex<T>* values, std::complex<T>* v) {
  return Decompose<Eigen::EigenSolver<Matrix<T>>>(in, n, values, v);
}
template <typename T>
bool EigenDecompose(const std::complex<T>* in, int64_t n, std::complex<T>* values,
                    std::complex<T>* v) {
  return Decompose<Eigen::ComplexEigenSolver<Matrix<std::complex<T>>>>(in, n, values, v);
}

bool EigenSchur(const Complex* in, int64_t n, Complex* triangle, Complex* u) {
  Eigen::ComplexSchur<Matrix<Complex>> schur(Eigen::Map<const Matrix<Complex>>(in, n, n));
  if (schur.info() != Eigen::Success) return false;
  Eigen::Map<Matrix<Complex>>(triangle, n, n) = schur.matrixT();
  Eigen::Map<Matrix<Complex>>(u, n, n) = schur.matrixU();
  return true;
}

#define INSTANTIATE(T)                                                                 \
  template bool EigenDecompose(const T*, int64_t, std::complex<T>*, std::complex<T>*); \
  template bool EigenDecompose(const std::complex<T>*, int64_t, std::complex<T>*, std::complex<T>*)
INSTANTIATE(float);
INSTANTIATE(double);
#undef INSTANTIATE

}  // namespace grapnel
