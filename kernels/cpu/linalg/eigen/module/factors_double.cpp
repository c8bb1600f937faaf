#include "kernels/cpu/linalg/eigen/module/factors.h"

template Eigen::JacobiSVD<Eigen::MatrixXd>& Eigen::JacobiSVD<Eigen::MatrixXd>::compute(
    const Eigen::MatrixXd&, unsigned);

namespace grapnel {

template void EigenSvd(const double*, int64_t, int64_t, bool, double*, double*, double*);
template void EigenQr(const double*, int64_t, int64_t, int64_t, double*, double*);
template bool EigenCholesky(const double*, int64_t, double*);

}  // namespace grapnel
