#include <complex>

#include "Eigen/Cholesky"
#include "Eigen/QR"
#include "kernels/cpu/linalg/eigen_api.h"

namespace grapnel {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

template <typename T>
void EigenQr(const T* in, int64_t m, int64_t n, int64_t k, T* q, T* r) {
  Eigen::HouseholderQR<Matrix<T>> qr(Eigen::Map<const Matrix<T>>(in, m, n));
  Matrix<T> left = Matrix<T>::Identity(m, k);
  left.applyOnTheLeft(qr.householderQ());
  Eigen::Map<Matrix<T>>(q, m, k) = left;
  Eigen::Map<Matrix<T>>(r, k, n) = qr.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
}

template <typename T>
bool EigenCholesky(const T* in, int64_t n, T* lower) {
  Eigen::LLT<Matrix<T>, Eigen::Lower> llt(Eigen::Map<const Matrix<T>>(in, n, n));
  Eigen::Map<Matrix<T>>(lower, n, n) = Matrix<T>(llt.matrixL());
  return llt.info() == Eigen::Success;
}

#define INSTANTIATE(T)                                                \
  template void EigenQr(const T*, int64_t, int64_t, int64_t, T*, T*); \
  template bool EigenCholesky(const T*, int64_t, T*)
INSTANTIATE(double);
INSTANTIATE(std::complex<double>);
#undef INSTANTIATE

}  // namespace grapnel
