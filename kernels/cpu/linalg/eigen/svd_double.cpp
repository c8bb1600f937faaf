#include "kernels/cpu/linalg/eigen/svd.h"

namespace grapnel {

template void EigenSvd(const double*, int64_t, int64_t, bool, double*, double*, double*);

}  // namespace grapnel
