#include "kernels/cpu/linalg/eigen/module/values.h"

namespace grapnel {

template bool EigenSelfAdjoint(const double*, int64_t, double*, double*);
template bool EigenDecompose(const double*, int64_t, std::complex<double>*, std::complex<double>*);

}  // namespace grapnel
