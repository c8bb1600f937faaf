// Exponentials and logarithms of floats, computed in double with a few operations and no branch or
// call, so that loops over them vectorize. The last bit is right for nearly every float.
//
// Arguments are doubles that are floats or were computed from floats. Relative errors are below
// 2^-31. A result outside the range of float has an arbitrary large or small value, which becomes
// infinity or 0 when rounded to float. NaN gives NaN.
#ifndef GRAPNEL_KERNELS_COMMON_FLOAT_MATH_H_
#define GRAPNEL_KERNELS_COMMON_FLOAT_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace grapnel::float_math {

inline constexpr double kLn2 = 0.69314718055994530942;

// The parts 2^k and e^r - 1 of e^x = 2^k * e^r with |r| <= ln(2) / 2.
struct ExpParts {
  double scale, rest;
};
inline ExpParts ExpPartsOf(double x) {
  constexpr double kMost = 128;  // e^-128 and e^128 are outside the range of float
  constexpr double kRound = 0x1.8p52;
  x = x > kMost ? kMost : x;
  x = x < -kMost ? -kMost : x;
  // The last bits of the sum are k: the addition rounds the fraction away.
  double shifted = x * 1.44269504088896340736 + kRound;
  double r = x - (shifted - kRound) * kLn2;
  double scale = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
  // 1 + r/2! + r^2/3! + ... + r^8/9!, in pairs: a chain of nine dependent steps has a long latency.
  double r2 = r * r, r4 = r2 * r2;
  double p01 = 0.5 * r + 1.0, p23 = 1.0 / 24 * r + 1.0 / 6;
  double p45 = 1.0 / 720 * r + 1.0 / 120, p67 = 1.0 / 40320 * r + 1.0 / 5040;
  double low = p23 * r2 + p01, high = p67 * r2 + p45;
  double p = (1.0 / 362880 * r4 + high) * r4 + low;
  return {scale, p * r};
}

// e^x; 0 for x below -110, where e^x is less than the smallest positive float.
inline double Exp(double x) {
  ExpParts parts = ExpPartsOf(x);
  double result = parts.scale * parts.rest + parts.scale;
  return x < -110 ? 0 : result;
}

inline double Expm1(double x) {
  ExpParts parts = ExpPartsOf(x);
  double result = parts.scale * parts.rest + (parts.scale - 1);
  return x == 0 ? x : result;  // keeps -0
}

// x must be positive, finite and not subnormal.
inline double LogOfPositive(double x) {
  constexpr uint64_t kOne = uint64_t{1023} << 52;
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
  // x = 2^k * m with m between sqrt(1/2) and sqrt(2), and log(m) = 2 artanh((m - 1) / (m + 1)).
  uint64_t bits = std::bit_cast<uint64_t>(x);
  uint64_t biased = (bits + (kOne - kRootOfHalf)) >> 52;  // k + 1023
  double k = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + 1023);
  double f = std::bit_cast<double>(bits - (biased << 52) + kOne) - 1;
  double s = f / (f + 2), square = s * s;
  double square2 = square * square;
  double low = 2.0 / 5 * square + 2.0 / 3, high = 2.0 / 9 * square + 2.0 / 7;
  double p = (2.0 / 11 * square2 + high) * square2 + low;
  return k * kLn2 + (2 * s + s * (square * p));
}

// log(1 + x) for finite x > -1. The part of a small x that 1 + x rounds away is added to the
// logarithm.
inline double Log1pOfPositive(double x) {
  double sum = 1 + x;
  return LogOfPositive(sum) + (x - (sum - 1));
}

inline double Log1p(double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double result = Log1pOfPositive(x);
  result = ((x == kInfinity) | (x == 0)) ? x : result;
  double outside = x == -1 ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  return x > -1 ? result : outside;
}

// log(1 + e^x).
inline double Softplus(double x) { return (x < 0 ? 0 : x) + Log1pOfPositive(Exp(-std::abs(x))); }

// x * tanh(softplus(x)), where tanh(log(1 + e)) = n / (n + 2) with n = e * (e + 2).
inline double Mish(double x) {
  double e = Exp(x > 40 ? 40 : x), n = e * (e + 2);
  return x * (n / (n + 2));
}

inline double Sinh(double x) {
  double p = Expm1(std::abs(x));
  return std::copysign(0.5 * (p + p / (p + 1)), x);
}

inline double Cosh(double x) {
  double e = Exp(std::abs(x));
  return 0.5 * (e + 1 / e);
}

inline double Atanh(double x) {
  double a = std::abs(x);
  return std::copysign(0.5 * Log1p(2 * a / (1 - a)), x);
}

// 1 - erf(x).
inline double Erfc(double x) {
  // erfc(z) = e^(-z^2) t Q(t) with t = 2 / (2 + z) for z = |x|. The polynomial Q is fitted for z
  // from 0 to 10.5 with a relative error of 2^-31; above 10.5, the power of e is 0 in float.
  double z = std::abs(x), t = 2 / (2 + z), t2 = t * t, t4 = t2 * t2;
  double q01 = 0.28197134778152066 * t + 0.2820986792409186;
  double q23 = 0.1621973362248501 * t + 0.24856211319071253;
  double q45 = -0.2720758059499634 * t + 0.15832001078104324;
  double q67 = -1.1744886688680247 * t + 0.6064169239976516;
  double q89 = -0.7105602165093553 * t + 1.2249136861960284;
  double qab = -0.029624578764057708 * t + 0.2222691727856108;
  double low = q23 * t2 + q01, middle = q67 * t2 + q45, high = qab * t2 + q89;
  double result = Exp(-z * z) * (t * ((high * t4 + middle) * t4 + low));
  return x < 0 ? 2 - result : result;
}

}  // namespace grapnel::float_math

#endif  // GRAPNEL_KERNELS_COMMON_FLOAT_MATH_H_
