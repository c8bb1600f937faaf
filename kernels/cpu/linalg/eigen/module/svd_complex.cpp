#include "kernels/cpu/linalg/eigen/module/svd.h"

namespace grapnel {

template void EigenSvd(const std::complex<double>*, int64_t, int64_t, bool, double*,
                       std::complex<double>*, std::complex<double>*);

}  // namespace grapnel
