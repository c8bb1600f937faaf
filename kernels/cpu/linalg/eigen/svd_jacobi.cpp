#include "kernels/cpu/linalg/eigen/svd.h"

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::JacobiSVD<Eigen::MatrixXcd>;
