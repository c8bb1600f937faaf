#include "kernels/cpu/linalg/eigen/module/values.h"

namespace grapnel {

template bool EigenSelfAdjoint(const float*, int64_t, float*, float*);
template bool EigenDecompose(const float*, int64_t, std::complex<float>*, std::complex<float>*);

}  // namespace grapnel
