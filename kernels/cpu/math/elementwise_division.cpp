// Quotients and remainders, each with TensorFlow's rounding and treatment of zero.
#include <cmath>

#include "kernels/cpu/math/elementwise_binary.h"

namespace grapnel {
namespace {

// The quotient truncated toward zero. Bad() rejects a zero divisor, yet the function survives it;
// the smallest integer divided by -1 wraps instead of trapping.
template <typename T>
T Truncated(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return SubOf(T(0), a);
  }
  return b == 0 ? T(0) : static_cast<T>(a / b);
}
template <typename T>
T TruncatedRest(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return T(0);
  }
  return b == 0 ? T(0) : static_cast<T>(a % b);
}

struct IntegerDivisor {
  static constexpr const char* kBadText = "integer division by zero";
  template <typename T>
  static bool Bad(T b) requires std::is_integral_v<T> {
    return b == 0;
  }
};

// Div truncates integers and divides other types; RealDiv is registered for fewer types.
struct DivOp : IntegerDivisor {
  using Types = NumberTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return Truncated(a, b);
    else
      return a / b;
  }
};

struct RealDivOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T a, T b) {
    return a / b;
  }
};

struct DivNoNanOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T a, T b) {
    return b == T(0) ? T(0) : a / b;
  }
};

struct TruncateDivOp : IntegerDivisor {
  using Types = RealTypes;
  static constexpr double kCost = 2;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return Truncated(a, b);
    else
      return std::trunc(a / b);
  }
};

struct FloorDivOp : IntegerDivisor {
  using Types = RealTypes;
  static constexpr double kCost = 2;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      T quotient = Truncated(a, b);
      bool inexact = TruncatedRest(a, b) != 0;
      return inexact && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return std::floor(a / b);
    }
  }
};

struct TruncateModOp : IntegerDivisor {
  using Types = RealTypes;
  static constexpr double kCost = 4;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return TruncatedRest(a, b);
    else
      return std::fmod(a, b);
  }
};

// The remainder has the sign of the divisor.
struct FloorModOp : IntegerDivisor {
  using Types = RealTypes;
  static constexpr double kCost = 4;
  template <typename T>
  static T Run(T a, T b) {
    T rest = TruncateModOp::Run(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? AddOf(rest, b) : rest;
  }
};

GRAPNEL_BINARY_KERNEL("Div", DivOp);
GRAPNEL_BINARY_KERNEL("RealDiv", RealDivOp);
GRAPNEL_BINARY_KERNEL("DivNoNan", DivNoNanOp);
GRAPNEL_BINARY_KERNEL("FloorDiv", FloorDivOp);
GRAPNEL_BINARY_KERNEL("TruncateDiv", TruncateDivOp);
GRAPNEL_BINARY_KERNEL("Mod", TruncateModOp);
GRAPNEL_BINARY_KERNEL("TruncateMod", TruncateModOp);
GRAPNEL_BINARY_KERNEL("FloorMod", FloorModOp);

}  // namespace
}  // namespace grapnel
