#include "kernels/cpu/linalg/eigen/module/values.h"

namespace grapnel {

template bool EigenSelfAdjoint(const std::complex<float>*, int64_t, std::complex<float>*,
                               std::complex<float>*);
template bool EigenDecompose(const std::complex<float>*, int64_t, std::complex<float>*,
                             std::complex<float>*);

}  // namespace grapnel
