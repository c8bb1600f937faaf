// Sums, products, differences, extremes: ops that are limited by memory bandwidth.
#include "kernels/cpu/math/elementwise_binary.h"

namespace grapnel {
namespace {

struct AddOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return AddOf(a, b);
  }
};

// Only Add, not AddV2, concatenates strings.
struct AddOrJoinOp {
  using Types = Join<NumberTypes, TypeList<std::string>>;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, std::string>)
      return a + b;
    else
      return AddOf(a, b);
  }
};

struct SubOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return SubOf(a, b);
  }
};

struct MulOp {
  using Types = NumberTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return MulOf(a, b);
  }
};

struct MulNoNanOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.5;
  template <typename T>
  static T Run(T a, T b) {
    return b == T(0) ? T(0) : MulOf(a, b);
  }
};

struct SquaredDifferenceOp {
  using Types = Join<FloatOrComplexTypes, TypeList<int32_t, int64_t>>;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    T d = SubOf(a, b);
    if constexpr (kIsComplex<T>)
      return T(std::norm(d));
    else
      return MulOf(d, d);
  }
  template <typename S>
  static S PerStepRounding(S a, S b) {
    return (a - b) * (a - b);
  }
};

// A NaN on either side gives NaN. This form of the comparison ensures that and vectorizes.
struct MaximumOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else
      return ((a > b) | (a != a)) ? a : b;
  }
};

struct MinimumOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a < b ? a : b;
    else
      return ((a < b) | (a != a)) ? a : b;
  }
};

GRAPNEL_BINARY_KERNEL("Add", AddOrJoinOp);
GRAPNEL_BINARY_KERNEL("AddV2", AddOp);
GRAPNEL_BINARY_KERNEL("Sub", SubOp);
GRAPNEL_BINARY_KERNEL("Mul", MulOp);
GRAPNEL_BINARY_KERNEL("MulNoNan", MulNoNanOp);
GRAPNEL_BINARY_KERNEL("SquaredDifference", SquaredDifferenceOp);
GRAPNEL_BINARY_KERNEL("Maximum", MaximumOp);
GRAPNEL_BINARY_KERNEL("Minimum", MinimumOp);

}  // namespace
}  // namespace grapnel
