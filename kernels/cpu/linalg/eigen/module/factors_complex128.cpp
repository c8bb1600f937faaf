#include "kernels/cpu/linalg/eigen/module/factors.h"

namespace grapnel {

using Complex = std::complex<double>;

template void EigenSvd(const Complex*, int64_t, int64_t, bool, double*, Complex*, Complex*);
template void EigenQr(const Complex*, int64_t, int64_t, int64_t, Complex*, Complex*);
template bool EigenCholesky(const Complex*, int64_t, Complex*);

}  // namespace grapnel
