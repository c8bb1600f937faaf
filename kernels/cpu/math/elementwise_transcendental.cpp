// Exponentials, logarithms and trigonometric functions: by Eigen where it vectorizes them for
// float, through double where that vectorizes (float_math.h), else by libm.
#include <cmath>
#include <utility>

#include "kernels/common/float_math.h"
#include "kernels/cpu/math/elementwise_unary.h"

namespace grapnel {
namespace {

// Bitwise equal to TensorFlow's result on a processor without FMA: transforms such as tf.signal.dct
// use sines and cosines as constants, and folding must reproduce them. The angle is reduced to
// [-pi/4, pi/4] in four steps with little rounding; polynomials do the rest.
std::pair<float, float> SineAndCosine(float angle) {
#pragma clang fp contract(off)
  constexpr float kLargest = 18838;  // above this, the reduction loses digits
  if (std::abs(angle) >= kLargest) return {std::sin(angle), std::cos(angle)};
  constexpr float kRounds = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  float shifted = std::abs(angle) * 0.63661975f + kRounds;  // in quarter turns
  auto quarter = static_cast<uint32_t>(shifted - kRounds);
  float count = shifted - kRounds;
  float x = std::abs(angle);
  x = count * -1.5703125f + x;
  x = count * -0.00048398972f + x;
  x = count * 1.6286504e-07f + x;
  x = count * 5.5644315e-11f + x;
  float square = x * x;
  float cosine = square * 2.4372266e-05f + -0.0013886520f;
  cosine = cosine * square + 0.04166662f;
  cosine = cosine * square + -0.5f;
  cosine = cosine * square + 1.0f;
  float sine = square * -0.00019592341f + 0.0083326874f;
  sine = sine * square + -0.16666662f;
  sine = sine * square * x + x;
  if (quarter & 1) std::swap(sine, cosine);
  if (quarter & 2) sine = -sine;
  if ((quarter + 1) & 2) cosine = -cosine;
  return {std::signbit(angle) ? -sine : sine, cosine};
}

struct ExpOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 2;
  static auto Eval(const auto& x) { return x.exp(); }
  static void Vectorized(const Complex64* in, Complex64* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      float real = in[i].real(), angle = in[i].imag();
      if (!std::isfinite(real) || !std::isfinite(angle) || angle == 0) {
        out[i] = std::exp(in[i]);
        continue;
      }
      float length = std::exp(real);
      auto [sine, cosine] = SineAndCosine(angle);
      out[i] = {length * cosine, length * sine};
    }
  }
};
struct Expm1Op {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>)
      return std::exp(x) - T(1);
    else if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Expm1(x));
    else
      return std::expm1(x);
  }
};
struct LogOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 2;
  static auto Eval(const auto& x) { return x.log(); }
};
struct Log1pOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>)
      return std::log(T(1) + x);
    else if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Log1p(x));
    else
      return std::log1p(x);
  }
};
struct SinOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 3;
  static auto Eval(const auto& x) { return x.sin(); }
};
struct CosOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 3;
  static auto Eval(const auto& x) { return x.cos(); }
};
struct TanOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
    return std::tan(x);
  }
};
struct AsinOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T x) {
    return std::asin(x);
  }
};
struct AcosOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T x) {
    return std::acos(x);
  }
};
struct AtanOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T x) {
    return std::atan(x);
  }
};
struct SinhOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Sinh(x));
    else
      return std::sinh(x);
  }
};
struct CoshOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Cosh(x));
    else
      return std::cosh(x);
  }
};
struct TanhOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 2;
  static auto Eval(const auto& x) { return x.tanh(); }
};
struct AsinhOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
    return std::asinh(x);
  }
};
struct AcoshOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
    return std::acosh(x);
  }
};
struct AtanhOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Atanh(x));
    else
      return std::atanh(x);
  }
};

GRAPNEL_UNARY_KERNEL("Exp", "T", ExpOp);
GRAPNEL_UNARY_KERNEL("Expm1", "T", Expm1Op);
GRAPNEL_UNARY_KERNEL("Log", "T", LogOp);
GRAPNEL_UNARY_KERNEL("Log1p", "T", Log1pOp);
GRAPNEL_UNARY_KERNEL("Sin", "T", SinOp);
GRAPNEL_UNARY_KERNEL("Cos", "T", CosOp);
GRAPNEL_UNARY_KERNEL("Tan", "T", TanOp);
GRAPNEL_UNARY_KERNEL("Asin", "T", AsinOp);
GRAPNEL_UNARY_KERNEL("Acos", "T", AcosOp);
GRAPNEL_UNARY_KERNEL("Atan", "T", AtanOp);
GRAPNEL_UNARY_KERNEL("Sinh", "T", SinhOp);
GRAPNEL_UNARY_KERNEL("Cosh", "T", CoshOp);
GRAPNEL_UNARY_KERNEL("Tanh", "T", TanhOp);
GRAPNEL_UNARY_KERNEL("Asinh", "T", AsinhOp);
GRAPNEL_UNARY_KERNEL("Acosh", "T", AcoshOp);
GRAPNEL_UNARY_KERNEL("Atanh", "T", AtanhOp);

}  // namespace
}  // namespace grapnel
