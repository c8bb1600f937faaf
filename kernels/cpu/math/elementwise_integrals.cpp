// Functions defined by integrals: Dawsn, Expint, FresnelCos, FresnelSin and Spence. Each is
// computed in double to nearly full precision, by series where they converge fast and by continued
// fractions or Rybicki's sampling elsewhere (Abramowitz and Stegun, "Handbook of mathematical
// functions", chapters 5, 7 and 27; Rybicki, "Dawson's integral and the sampling theorem", 1989).
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "kernels/cpu/math/elementwise_unary.h"

namespace grapnel {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// exp(-x^2) * integral from 0 to x of exp(t^2).
double Dawson(double x) {
  if (std::isnan(x)) return x;
  double size = std::abs(x), square = x * x;
  if (size < 0.3) {
    double term = x, sum = x;
    for (int n = 1; std::abs(term) > kEpsilon * std::abs(sum); ++n) {
      term *= -2 * square / (2 * n + 1);
      sum += term;
    }
    return sum;
  }
  if (size > 50) return (1 + (1 + 1.5 / square) / (2 * square)) / (2 * x);
  // Samples of a Gaussian at odd multiples of the step; the error falls as exp(-(pi / (2 step))^2).
  constexpr double kStep = 0.25;
  constexpr int kTerms = 26;
  int center = 2 * static_cast<int>(std::lround(0.5 * size / kStep));
  double offset = size - center * kStep, sum = 0;
  for (int i = -kTerms; i < kTerms; ++i) {
    int odd = 2 * i + 1;
    double at = offset - odd * kStep;
    sum += std::exp(-at * at) / (center + odd);
  }
  return std::copysign(sum / std::sqrt(kPi), x);
}

// The principal value of the integral from -infinity to x of exp(t) / t. TensorFlow defines it for
// finite x >= 0.
double ExponentialIntegral(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNaN;
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x > 40) {
    double term = 1, sum = 1;
    for (int n = 1; n < x && term > kEpsilon * sum; ++n) {
      term *= n / x;
      sum += term;
    }
    return std::exp(x) / x * sum;
  }
  double term = 1, sum = 0;
  for (int n = 1; n < 500; ++n) {
    term *= x / n;
    sum += term / n;
    if (term / n < kEpsilon * sum) break;
  }
  return std::numbers::egamma + std::log(x) + sum;
}

// C(x) + i S(x): the integral from 0 to x of exp(i pi t^2 / 2).
std::complex<double> Fresnel(double x) {
  double size = std::abs(x);
  if (std::isnan(x)) return {kNaN, kNaN};
  std::complex<double> value;
  if (size < 1.6) {
    std::complex<double> term = size, sum = term;
    const std::complex<double> step(0, kPi / 2 * size * size);
    for (int n = 1; std::abs(term) > kEpsilon * std::abs(sum) / 10 && n < 200; ++n) {
      term *= step / static_cast<double>(n);
      sum += term / static_cast<double>(2 * n + 1);
    }
    value = sum;
  } else if (size > 1e8) {
    value = {0.5, 0.5};
  } else {
    // The complex complementary error function as a continued fraction.
    double square = kPi * size * size;
    std::complex<double> b(1, -square), c = 1e300, d = 1.0 / b, h = d;
    for (int k = 2, n = -1; k < 1000; ++k) {
      n += 2;
      double a = -1.0 * n * (n + 1);
      b += 4.0;
      d = 1.0 / (a * d + b);
      c = b + a / c;
      std::complex<double> step = c * d;
      h *= step;
      if (std::abs(step.real() - 1) + std::abs(step.imag()) < kEpsilon) break;
    }
    h *= std::complex<double>(size, -size);
    std::complex<double> wave(std::cos(0.5 * square), std::sin(0.5 * square));
    value = std::complex<double>(0.5, 0.5) * (1.0 - wave * h);
  }
  return x < 0 ? -value : value;
}

// The dilogarithm of 1 - x: minus the integral from 1 to x of log(t) / (t - 1).
double DilogarithmOf(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNaN;
  if (x == 0) return kPi * kPi / 6;
  // Inversion and reflection map x into [1/2, 3/2], where the series in 1 - x converges.
  double log_x = std::log(x);
  if (x > 1.5) return -0.5 * log_x * log_x - DilogarithmOf(1 / x);
  if (x < 0.5) return kPi * kPi / 6 - log_x * std::log1p(-x) - DilogarithmOf(1 - x);
  double z = 1 - x, power = 1, sum = 0;
  for (int n = 1; n < 200; ++n) {
    power *= z;
    double term = power / (1.0 * n * n);
    sum += term;
    if (std::abs(term) <= kEpsilon * std::abs(sum)) break;
  }
  return sum;
}

#define GRAPNEL_INTEGRAL_KERNEL(name, expression) \
  struct name##Op {                               \
    using Types = FloatTypes;                     \
    static constexpr double kCost = 150;          \
    template <typename T>                         \
    static T Run(T in) {                          \
      double x = static_cast<double>(in);         \
      return static_cast<T>(expression);          \
    }                                             \
  };                                              \
  GRAPNEL_UNARY_KERNEL(#name, "T", name##Op)

GRAPNEL_INTEGRAL_KERNEL(Dawsn, Dawson(x));
GRAPNEL_INTEGRAL_KERNEL(Expint, ExponentialIntegral(x));
GRAPNEL_INTEGRAL_KERNEL(FresnelCos, Fresnel(x).real());
GRAPNEL_INTEGRAL_KERNEL(FresnelSin, Fresnel(x).imag());
GRAPNEL_INTEGRAL_KERNEL(Spence, DilogarithmOf(x));

}  // namespace
}  // namespace grapnel
