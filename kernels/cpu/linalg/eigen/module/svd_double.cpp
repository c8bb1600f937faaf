#include "kernels/cpu/linalg/eigen/module/svd.h"

template Eigen::JacobiSVD<Eigen::MatrixXd>& Eigen::JacobiSVD<Eigen::MatrixXd>::compute(
    const Eigen::MatrixXd&, unsigned);

namespace grapnel {

template void EigenSvd(const double*, int64_t, int64_t, bool, double*, double*, double*);

}  // namespace grapnel
