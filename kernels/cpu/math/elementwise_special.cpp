// The error function, its complement and its inverse, the quantiles of the normal distribution, and
// the logarithm of the gamma function and that logarithm's derivative.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/float_math.h"
#include "kernels/cpu/math/elementwise_unary.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace grapnel {
namespace {

struct ErfOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2;
  // For x above this, erf(x) rounds to 1 in float, while Eigen's polynomials stay an ulp or two
  // below 1.
  static constexpr float kSaturated = 3.8325069F;
  static void Vectorized(const double* in, double* out, int64_t n) {
    ArrayMap<double>(out, n) = ConstArrayMap<double>(in, n).erf();
  }
  static void Vectorized(const float* in, float* out, int64_t n) {
    alignas(64) float curve[kFloatBlock];  // `out` may be `in`
    for (int64_t first = 0; first < n;
         first += kFloatBlock, in += kFloatBlock, out += kFloatBlock) {
      const int64_t count = std::min(kFloatBlock, n - first);
      ArrayMap<float>(curve, count) = ConstArrayMap<float>(in, count).erf();
      GRAPNEL_VECTORIZE
      for (int64_t i = 0; i < count; ++i)
        out[i] = std::abs(in[i]) >= kSaturated ? std::copysign(1.0F, in[i]) : curve[i];
    }
  }
};
struct ErfcOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Erfc(x));
    else
      return std::erfc(x);
  }
};
// The inverse of the normal distribution function. Erfinv is the same curve, rescaled.
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
// std::lgamma writes to a global variable; Eigen calls the reentrant version.
struct LgammaOp {
  using Types = FloatTypes;
  static constexpr double kCost = 20;
  template <typename T>
  static T Run(T x) {
    return Eigen::numext::lgamma(x);
  }
};
// Undefined at 0, -1, -2, ...: TensorFlow returns NaN there.
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
