#include "Eigen/LU"

#include <complex>

#include "kernels/cpu/linalg/eigen_api.h"

namespace grapnel {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
T SignOf(T x) {
  if constexpr (Eigen::NumTraits<T>::IsComplex)
    return x == T(0) ? x : x / std::abs(x);
  else
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}

}  // namespace

template <typename T>
void EigenLogDeterminant(const T* in, int64_t n, T* sign, T* log_abs) {
  Eigen::PartialPivLU<Matrix<T>> lu(Eigen::Map<const Matrix<T>>(in, n, n));
  auto diagonal = lu.matrixLU().diagonal().array().eval();
  auto sizes = diagonal.abs().eval();
  *log_abs = T(sizes.log().sum());
  // A 0 on the diagonal makes the sign 0, a NaN makes it NaN; a real infinity counts with its sign.
  *sign = T(lu.permutationP().determinant());
  for (int64_t i = 0; i < n; ++i) *sign *= SignOf(T(diagonal[i]));
}

template <typename T>
bool EigenSolve(const T* in, int64_t n, bool adjoint, const T* right, int64_t columns, T* x) {
  Eigen::Map<const Matrix<T>> matrix(in, n, n);
  Eigen::PartialPivLU<Matrix<T>> lu(n);
  if (adjoint)
    lu.compute(matrix.adjoint());
  else
    lu.compute(matrix);
  Eigen::Map<Matrix<T>> out(x, n, columns);
  if (right)
    out = lu.solve(Eigen::Map<const Matrix<T>>(right, n, columns));
  else
    out = lu.inverse();
  return lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

template <typename T>
bool EigenLu(const T* in, int64_t n, T* lu, int64_t* rows) {
  Eigen::PartialPivLU<Matrix<T>> factors(Eigen::Map<const Matrix<T>>(in, n, n));
  Eigen::Map<Matrix<T>>(lu, n, n) = factors.matrixLU();
  for (int64_t i = 0; i < n; ++i) rows[factors.permutationP().indices()[i]] = i;
  return factors.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

template <typename T>
void EigenSolveTriangle(const T* in, int64_t n, bool lower, bool adjoint, int64_t columns, T* x) {
  Eigen::Map<const Matrix<T>> a(in, n, n);
  Eigen::Map<Matrix<T>> out(x, n, columns);
  if (lower && !adjoint) a.template triangularView<Eigen::Lower>().solveInPlace(out);
  if (lower && adjoint) a.adjoint().template triangularView<Eigen::Upper>().solveInPlace(out);
  if (!lower && !adjoint) a.template triangularView<Eigen::Upper>().solveInPlace(out);
  if (!lower && adjoint) a.adjoint().template triangularView<Eigen::Lower>().solveInPlace(out);
}

#define INSTANTIATE(T)                                                      \
  template void EigenLogDeterminant(const T*, int64_t, T*, T*);             \
  template bool EigenLu(const T*, int64_t, T*, int64_t*);                   \
  template bool EigenSolve(const T*, int64_t, bool, const T*, int64_t, T*); \
  template void EigenSolveTriangle(const T*, int64_t, bool, bool, int64_t, T*)
INSTANTIATE(float);
INSTANTIATE(double);
INSTANTIATE(std::complex<float>);
INSTANTIATE(std::complex<double>);
#undef INSTANTIATE

}  // namespace grapnel
