// The error function and its inverse, the gamma function and its derivative.
#include <cmath>
#include <limits>

#include "kernels/cpu/math/elementwise_unary.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace grapnel {
namespace {

struct ErfOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2;
  static auto Eval(const auto& x) { return x.erf(); }
};
struct ErfcOp {
  using Types = FloatTypes;
  static constexpr double kCost = 12;
  template <typename T>
  static T Run(T x) {
    return std::erfc(x);
  }
};
// The inverse of the normal distribution. Erfinv is the same curve under another scale.
struct NdtriOp {
  using Types = FloatTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
    return x >= 0 && x <= 1 ? Eigen::numext::ndtri(x) : std::numeric_limits<T>::quiet_NaN();
  }
};
struct ErfinvOp {
  using Types = FloatTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
    return NdtriOp::Run((x + T(1)) / T(2)) * T(0.70710678118654752440);
  }
};
// std::lgamma writes a global variable; Eigen calls the reentrant one.
struct LgammaOp {
  using Types = FloatTypes;
  static constexpr double kCost = 20;
  template <typename T>
  static T Run(T x) {
    return Eigen::numext::lgamma(x);
  }
};
// Undefined at 0, -1, -2, ...: TensorFlow says NaN there.
struct DigammaOp {
  using Types = FloatTypes;
  static constexpr double kCost = 20;
  template <typename T>
  static T Run(T x) {
    if (x <= 0 && x == std::floor(x)) return std::numeric_limits<T>::quiet_NaN();
    return Eigen::numext::digamma(x);
  }
};

GRAPNEL_UNARY_KERNEL("Erf", "T", ErfOp);
GRAPNEL_UNARY_KERNEL("Erfc", "T", ErfcOp);
GRAPNEL_UNARY_KERNEL("Erfinv", "T", ErfinvOp);
GRAPNEL_UNARY_KERNEL("Ndtri", "T", NdtriOp);
GRAPNEL_UNARY_KERNEL("Lgamma", "T", LgammaOp);
GRAPNEL_UNARY_KERNEL("Digamma", "T", DigammaOp);

}  // namespace
}  // namespace grapnel
