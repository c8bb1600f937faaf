// The interface between the program and grapnel_eigen.so, Eigen's decompositions of matrices. They
// take long to compile and few graphs need them, so the module is loaded on demand and `./x demo`
// does not build it. For the same reason some functions exist only for double and complex128, and
// kernels of other dtypes widen.
//
// Only pointers and numbers cross the interface, and std::bad_alloc. Matrices are row-major.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_EIGEN_API_H_
#define GRAPNEL_KERNELS_CPU_LINALG_EIGEN_API_H_

#include <complex>
#include <cstdint>

// Increment when anything below changes.
#define GRAPNEL_EIGEN_API_VERSION 1
#define GRAPNEL_EIGEN_ENTRY "GrapnelEigenEntry"

namespace grapnel {

template <typename T>
using EigenComplex = std::complex<decltype(std::real(T()))>;

// --- The functions of the module, which the program calls through the tables below.

// `in` [m, n] = u * diag(s) * v^H with k = min(m, n) > 0 descending values in s. u is [m, k] and v
// is [n, k], or [m, m] and [n, n] when `full`. If u and v are null, only s is computed. `in` must
// be finite.
template <typename T>
void EigenSvd(const T* in, int64_t m, int64_t n, bool full, double* s, T* u, T* v);

// `in` [m, n] = q [m, k] * r [k, n], where k is m or min(m, n); m and n must not be 0.
template <typename T>
void EigenQr(const T* in, int64_t m, int64_t n, int64_t k, T* q, T* r);

// Computes the lower factor of `in` [n, n], of which it reads the lower triangle. False if the
// matrix is not positive definite.
template <typename T>
bool EigenCholesky(const T* in, int64_t n, T* lower);

// Computes ascending eigenvalues (in the real part of T) of the self-adjoint `in` [n, n] and,
// unless v is null, its eigenvectors as columns of v. False if the iteration did not converge.
// Instantiated for each dtype: the sign of a vector depends on rounding, so the sign equals
// TensorFlow's only in the same dtype.
template <typename T>
bool EigenSelfAdjoint(const T* in, int64_t n, T* values, T* v);

// Computes the determinant of `in` [n, n], n > 0, as its sign (or phase) and the logarithm of its
// magnitude (the real part of *log_abs), which is not finite when the determinant is 0.
template <typename T>
void EigenLogDeterminant(const T* in, int64_t n, T* sign, T* log_abs);

// x [n, columns] = inverse of `in` [n, n] (or of its adjoint) times `right`; the inverse itself if
// `right` is null. False if `in` is not invertible.
template <typename T>
bool EigenSolve(const T* in, int64_t n, bool adjoint, const T* right, int64_t columns, T* x);

// EigenSolve for a triangle of `in`, in place: x holds the right-hand side first. A 0 on the
// diagonal is divided by, which gives infinities and NaN.
template <typename T>
void EigenSolveTriangle(const T* in, int64_t n, bool lower, bool adjoint, int64_t columns, T* x);

// Computes L and U of `in` [n, n] in one matrix, and for each of its rows the row of `in` it came
// from. False if `in` is not invertible.
template <typename T>
bool EigenLu(const T* in, int64_t n, T* lu, int64_t* rows);

// Computes the eigenvalues of `in` [n, n] and, unless v is null, its eigenvectors as columns of v.
// False if the iteration did not converge. `in` must be finite. Instantiated for each dtype, like
// EigenSelfAdjoint; the phase of a complex vector still depends on rounding.
template <typename T>
bool EigenDecompose(const T* in, int64_t n, EigenComplex<T>* values, EigenComplex<T>* v);

// `in` [n, n] = u * triangle * u^H with u unitary and the triangle upper. False if the iteration
// did not converge. `in` must be finite.
bool EigenSchur(const std::complex<double>* in, int64_t n, std::complex<double>* triangle,
                std::complex<double>* u);

// --- Tables of them.

// For each dtype: float, double, complex64 and complex128.
template <typename T>
struct EigenTable {
  decltype(&EigenSelfAdjoint<T>) self_adjoint;
  decltype(&EigenLogDeterminant<T>) log_determinant;
  decltype(&EigenSolve<T>) solve;
  decltype(&EigenSolveTriangle<T>) solve_triangle;
  decltype(&EigenLu<T>) lu;
  decltype(&EigenDecompose<T>) decompose;
};

// Only for double and complex128.
template <typename T>
struct EigenWideTable : EigenTable<T> {
  decltype(&EigenSvd<T>) svd;
  decltype(&EigenQr<T>) qr;
  decltype(&EigenCholesky<T>) cholesky;
};

// A pointer to it converts to a pointer to the table of a dtype.
struct EigenApi : EigenTable<float>,
                  EigenTable<std::complex<float>>,
                  EigenWideTable<double>,
                  EigenWideTable<std::complex<double>> {
  decltype(&EigenSchur) schur;
};

}  // namespace grapnel

extern "C" {

// The one exported function, named GRAPNEL_EIGEN_ENTRY. Returns null if the program has another
// version.
typedef const grapnel::EigenApi* (*GrapnelEigenEntryFn)(uint32_t version);

}  // extern "C"

#endif  // GRAPNEL_KERNELS_CPU_LINALG_EIGEN_API_H_
