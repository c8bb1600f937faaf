// Powers, products with logarithms, angles: binary ops that call the math library.
#include <cmath>

#include "kernels/cpu/math/elementwise_binary.h"

namespace grapnel {
namespace {

struct PowOp {
  using Types = Join<FloatOrComplexTypes, SignedTypes>;
  static constexpr double kCost = 15;
  static constexpr const char* kBadText = "integers to negative integer powers are not allowed";
  template <typename T>
  static bool Bad(T b) requires std::is_integral_v<T> {
    return b < 0;
  }
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      T result = 1;
      for (T base = a; b > 0; b = static_cast<T>(b >> 1)) {
        if (b & 1) result = MulOf(result, base);
        base = MulOf(base, base);
      }
      return result;
    } else if constexpr (kIsComplex<T>) {
      return std::pow(a, b);
    } else {
      return b == T(2) ? a * a : std::pow(a, b);
    }
  }
};

struct Atan2Op {
  using Types = FloatTypes;
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T a, T b) {
    return std::atan2(a, b);
  }
};

// In Xdivy, Xlogy and Xlog1py a zero on the left gives zero, whatever is on the right.
struct XdivyOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1;
  template <typename T>
  static T Run(T a, T b) {
    return a == T(0) ? T(0) : a / b;
  }
};
struct XlogyOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 8;
  template <typename T>
  static T Run(T a, T b) {
    return a == T(0) ? T(0) : MulOf(a, std::log(b));
  }
  template <typename S>
  static S PerStepRounding(S a, S b) {
    return a == S(0) ? S(0) : a * Log(b);
  }
};
struct Xlog1pyOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T a, T b) {
    if (a == T(0)) return T(0);
    if constexpr (kIsComplex<T>)
      return MulOf(a, std::log(T(1) + b));
    else
      return a * std::log1p(b);
  }
  template <typename S>
  static S PerStepRounding(S a, S b) {
    return a == S(0) ? S(0) : a * Log1p(b);
  }
};

struct ComplexOp {
  using Types = TypeList<float, double>;
  static constexpr double kCost = 0.6;
  template <typename T>
  static std::complex<T> Run(T a, T b) {
    return {a, b};
  }
};

GRAPNEL_BINARY_KERNEL("Pow", PowOp);
GRAPNEL_BINARY_KERNEL("Atan2", Atan2Op);
GRAPNEL_BINARY_KERNEL("Xdivy", XdivyOp);
GRAPNEL_BINARY_KERNEL("Xlogy", XlogyOp);
GRAPNEL_BINARY_KERNEL("Xlog1py", Xlog1pyOp);
GRAPNEL_CPU_KERNEL("Complex", MakeBinary<ComplexOp>, OfTypes("T", {proto::DT_FLOAT}),
                   OfTypes("Tout", {proto::DT_COMPLEX64}));
GRAPNEL_CPU_KERNEL("Complex", MakeBinary<ComplexOp>, OfTypes("T", {proto::DT_DOUBLE}),
                   OfTypes("Tout", {proto::DT_COMPLEX128}));

}  // namespace
}  // namespace grapnel
