#include "kernels/cpu/linalg/linear_eigen_svd.h"

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::JacobiSVD<Eigen::MatrixXcd>;
