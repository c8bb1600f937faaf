// Exponentials, logarithms and angles. Through Eigen where it has them vectorised for float, else
// through libm.
#include <cmath>

#include "kernels/cpu/math/elementwise_unary.h"

namespace grapnel {
namespace {

struct ExpOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 2;
  static auto Eval(const auto& x) { return x.exp(); }
};
struct Expm1Op {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 4;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>)
      return std::exp(x) - T(1);
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
  static constexpr double kCost = 4;
  template <typename T>
  static T Run(T x) {
    if constexpr (kIsComplex<T>)
      return std::log(T(1) + x);
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
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T x) {
    return std::sinh(x);
  }
};
struct CoshOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 10;
  template <typename T>
  static T Run(T x) {
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
  static constexpr double kCost = 15;
  template <typename T>
  static T Run(T x) {
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
