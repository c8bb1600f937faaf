#include "kernels/cpu/linalg/eigen/module/values.h"

namespace grapnel {

using Complex = std::complex<double>;

template bool EigenSelfAdjoint(const Complex*, int64_t, Complex*, Complex*);
template bool EigenDecompose(const Complex*, int64_t, Complex*, Complex*);

bool EigenSchur(const Complex* in, int64_t n, Complex* triangle, Complex* u) {
  Eigen::ComplexSchur<EigenColumns<Complex>> schur(Eigen::Map<const EigenRows<Complex>>(in, n, n));
  if (schur.info() != Eigen::Success) return false;
  Eigen::Map<EigenRows<Complex>>(triangle, n, n) = schur.matrixT();
  Eigen::Map<EigenRows<Complex>>(u, n, n) = schur.matrixU();
  return true;
}

}  // namespace grapnel
