// Max, Min, All, Any. A NaN in the input gives NaN.
#include <limits>

#include "kernels/cpu/math/reduction.h"

namespace grapnel {
namespace {

template <typename T>
using Plain = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <typename T>
struct MaxOf {
  using Lane = Plain<T>;
  using Acc = Lane;
  static Lane Start() {
    if constexpr (std::is_integral_v<Lane>)
      return std::numeric_limits<Lane>::lowest();
    else
      return -std::numeric_limits<Lane>::infinity();
  }
  static Lane Step(Lane a, Lane b) {
    if constexpr (std::is_integral_v<Lane>)
      return a > b ? a : b;
    else
      return ((a > b) | (a != a)) ? a : b;
  }
  static Acc Gather(Acc a, Acc b) { return Step(a, b); }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return Out(acc);
  }
};

template <typename T>
struct MinOf {
  using Lane = Plain<T>;
  using Acc = Lane;
  static Lane Start() {
    if constexpr (std::is_integral_v<Lane>)
      return std::numeric_limits<Lane>::max();
    else
      return std::numeric_limits<Lane>::infinity();
  }
  static Lane Step(Lane a, Lane b) {
    if constexpr (std::is_integral_v<Lane>)
      return a < b ? a : b;
    else
      return ((a < b) | (a != a)) ? a : b;
  }
  static Acc Gather(Acc a, Acc b) { return Step(a, b); }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return Out(acc);
  }
};

template <typename T>
struct AllOf {
  using Lane = uint8_t;
  using Acc = uint8_t;
  static Lane Start() { return 1; }
  static Lane Step(Lane a, Lane b) { return a & b; }
  static Acc Gather(Acc a, Acc b) { return a & b; }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return acc != 0;
  }
};

template <typename T>
struct AnyOf {
  using Lane = uint8_t;
  using Acc = uint8_t;
  static Lane Start() { return 0; }
  static Lane Step(Lane a, Lane b) { return a | b; }
  static Acc Gather(Acc a, Acc b) { return a | b; }
  template <typename Out>
  static Out Finish(Acc acc, int64_t) {
    return acc != 0;
  }
};

using BoolOnly = TypeList<bool>;
GRAPNEL_CPU_KERNEL("Max", (MakeReduction<MaxOf, RealTypes>),
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("Min", (MakeReduction<MinOf, RealTypes>),
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("All", (MakeReduction<AllOf, BoolOnly>));
GRAPNEL_CPU_KERNEL("Any", (MakeReduction<AnyOf, BoolOnly>));

}  // namespace
}  // namespace grapnel
