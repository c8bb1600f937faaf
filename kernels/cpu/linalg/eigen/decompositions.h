// Decompositions by Eigen, in files of their own because they compile for long; for that reason
// some are made for double and complex128 alone, and kernels of other dtypes widen. Matrices are
// row-major.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_DECOMPOSITIONS_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_DECOMPOSITIONS_H_

#include <complex>
#include <cstdint>

namespace grapnel {

// `in` [m, n] = u * diag(s) * v^H with k = min(m, n) > 0 falling values in s. u is [m, k] and v
// [n, k], or [m, m] and [n, n] when `full`; both null: values alone. `in` must be finite.
template <typename T>
void EigenSvd(const T* in, int64_t m, int64_t n, bool full, double* s, T* u, T* v);

// `in` [m, n] = q [m, k] * r [k, n], where k is m or min(m, n); neither m nor n is 0.
template <typename T>
void EigenQr(const T* in, int64_t m, int64_t n, int64_t k, T* q, T* r);

// The lower factor of `in` [n, n], of which the lower triangle is read. False when it is not
// positive definite.
template <typename T>
bool EigenCholesky(const T* in, int64_t n, T* lower);

// Rising eigenvalues (the real part of T) of the self-adjoint `in` [n, n], and its eigenvectors as
// columns of v unless that is null. False when they were not found. Made for each dtype: which way
// a vector points comes from rounding, and is TensorFlow's only if that is.
template <typename T>
bool EigenSelfAdjoint(const T* in, int64_t n, T* values, T* v);

// The determinant of `in` [n, n], n > 0, as its sign (or phase) and the logarithm (its real part
// counts) of its magnitude; not finite where it is 0.
template <typename T>
void EigenLogDeterminant(const T* in, int64_t n, T* sign, T* log_abs);

// x [n, columns] = inverse of `in` [n, n] (or of its adjoint) times `right`; without `right`, the
// inverse itself. False when there is none.
template <typename T>
bool EigenSolve(const T* in, int64_t n, bool adjoint, const T* right, int64_t columns, T* x);

// The same of a triangle of `in`, in place. A 0 on the diagonal divides: infinities and NaN.
template <typename T>
void EigenSolveTriangle(const T* in, int64_t n, bool lower, bool adjoint, int64_t columns, T* x);

// L and U of `in` [n, n] in one matrix, and for each of its rows which row of `in` it is. False
// where it is not invertible.
template <typename T>
bool EigenLu(const T* in, int64_t n, T* lu, int64_t* rows);

// The eigenvalues of `in` [n, n], and its eigenvectors as columns of v unless that is null. False
// when they were not found. `in` must be finite. Made for each dtype, as EigenSelfAdjoint is; the
// phase of a complex vector still comes from rounding.
template <typename T>
bool EigenDecompose(const T* in, int64_t n, std::complex<T>* values, std::complex<T>* v);
template <typename T>
bool EigenDecompose(const std::complex<T>* in, int64_t n, std::complex<T>* values,
                    std::complex<T>* v);

// `in` [n, n] = u * triangle * u^H, where u is unitary and the triangle an upper one. False when
// they were not found. `in` must be finite.
bool EigenSchur(const std::complex<double>* in, int64_t n, std::complex<double>* triangle,
                std::complex<double>* u);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_DECOMPOSITIONS_H_
