// Logical and bitwise ops.
#include "kernels/cpu/math/elementwise_binary.h"

namespace grapnel {
namespace {

struct LogicalAndOp {
  using Types = TypeList<bool>;
  static constexpr double kCost = 0.2;
  template <typename T>
  static bool Run(T a, T b) {
    return a & b;
  }
};
struct LogicalOrOp {
  using Types = TypeList<bool>;
  static constexpr double kCost = 0.2;
  template <typename T>
  static bool Run(T a, T b) {
    return a | b;
  }
};

struct BitwiseAndOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return a & b;
  }
};
struct BitwiseOrOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return a | b;
  }
};
struct BitwiseXorOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T a, T b) {
    return a ^ b;
  }
};

// A negative shift counts as 0, one of at least the width as the width minus 1: TensorFlow's kernel
// behaves so in these cases, which C++ leaves undefined.
template <typename T>
int ShiftBy(T b) {
  constexpr int kLast = sizeof(T) * 8 - 1;
  if (std::is_signed_v<T> && b < T(0)) return 0;
  return b > T(kLast) ? kLast : static_cast<int>(b);
}
struct LeftShiftOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T a, T b) {
    return static_cast<T>(WrapType<T>(a) << ShiftBy(b));
  }
};
struct RightShiftOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T a, T b) {
    return static_cast<T>(a >> ShiftBy(b));
  }
};

// LogicalAnd and LogicalOr take only booleans and have no attribute T.
GRAPNEL_CPU_KERNEL("LogicalAnd", MakeBinary<LogicalAndOp>);
GRAPNEL_CPU_KERNEL("LogicalOr", MakeBinary<LogicalOrOp>);
GRAPNEL_BINARY_KERNEL("BitwiseAnd", BitwiseAndOp);
GRAPNEL_BINARY_KERNEL("BitwiseOr", BitwiseOrOp);
GRAPNEL_BINARY_KERNEL("BitwiseXor", BitwiseXorOp);
GRAPNEL_BINARY_KERNEL("LeftShift", LeftShiftOp);
GRAPNEL_BINARY_KERNEL("RightShift", RightShiftOp);

}  // namespace
}  // namespace grapnel
