#include "kernels/cpu/linalg/eigen/svd.h"

template Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>&
Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>::compute(const Eigen::MatrixXd&);
template Eigen::internal::UpperBidiagonalization<Eigen::MatrixXcd>&
Eigen::internal::UpperBidiagonalization<Eigen::MatrixXcd>::compute(const Eigen::MatrixXcd&);
