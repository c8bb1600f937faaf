// PopulationCount and NextAfter: ops on the bits of numbers.
#include <bit>
#include <cmath>

#include "kernels/cpu/math/elementwise_binary.h"
#include "kernels/cpu/math/elementwise_unary.h"

namespace grapnel {
namespace {

struct PopulationCountOp {
  using Types = IntegerTypes;
  static constexpr double kCost = 0.5;
  template <typename T>
  static uint8_t Run(T x) {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct NextAfterOp {
  using Types = TypeList<float, double>;
  static constexpr double kCost = 3;
  template <typename T>
  static T Run(T from, T to) {
    return std::nextafter(from, to);
  }
};

GRAPNEL_UNARY_KERNEL("PopulationCount", "T", PopulationCountOp);
GRAPNEL_BINARY_KERNEL("NextAfter", NextAfterOp);

}  // namespace
}  // namespace grapnel
