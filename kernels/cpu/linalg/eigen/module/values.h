// Eigenvalues by Eigen. Each dtype has its own file, values_*.cpp, which contains all its solvers
// because they share most of what they compile. The solvers use column-major matrices, as Eigen's
// algorithms do internally: row-major ones would add a third to the compile time.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_VALUES_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_VALUES_H_

#include <complex>
#include <type_traits>

#include "Eigen/Eigenvalues"
#include "kernels/cpu/linalg/eigen_api.h"

namespace grapnel {

template <typename T>
using EigenRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using EigenColumns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <typename T>
bool EigenSelfAdjoint(const T* in, int64_t n, T* values, T* v) {
  Eigen::SelfAdjointEigenSolver<EigenColumns<T>> solver(
      Eigen::Map<const EigenRows<T>>(in, n, n),
      v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return false;
  for (int64_t j = 0; j < n; ++j) values[j] = solver.eigenvalues()[j];
  if (v) Eigen::Map<EigenRows<T>>(v, n, n) = solver.eigenvectors();
  return true;
}

template <typename T>
bool EigenDecompose(const T* in, int64_t n, EigenComplex<T>* values, EigenComplex<T>* v) {
  using Matrix = EigenColumns<T>;
  using Solver = std::conditional_t<Eigen::NumTraits<T>::IsComplex,
                                    Eigen::ComplexEigenSolver<Matrix>, Eigen::EigenSolver<Matrix>>;
  Solver eigen(Eigen::Map<const EigenRows<T>>(in, n, n), v != nullptr);
  if (eigen.info() != Eigen::Success) return false;
  for (int64_t i = 0; i < n; ++i) values[i] = eigen.eigenvalues()[i];
  if (v) Eigen::Map<EigenRows<EigenComplex<T>>>(v, n, n) = eigen.eigenvectors();
  return true;
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_MODULE_VALUES_H_
