// Float-to-integer conversion, also of the values for which C++ leaves it undefined: out of range,
// infinite, NaN.
#ifndef GRAPNEL_KERNELS_COMMON_TO_INTEGER_H_
#define GRAPNEL_KERNELS_COMMON_TO_INTEGER_H_

#include <cstdint>
#include <limits>
#include <type_traits>

namespace grapnel {

// Truncates toward 0. Out-of-range values give the result of TensorFlow's code on x86: the CPU
// converts to a register of 32 or 64 bits, which gets its smallest integer if the number does not
// fit into it, and the low bits are kept. `From` is float or double.
template <typename To, typename From>
To ToInteger(From x) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr From kHalf = From(9223372036854775808.0);
    if (x >= kHalf && x < 2 * kHalf) return static_cast<To>(x);
  }
  constexpr bool kShort = sizeof(To) < 4 || std::is_same_v<To, int32_t>;
  using Wide = std::conditional_t<kShort, int32_t, int64_t>;
  constexpr From kLow = static_cast<From>(std::numeric_limits<Wide>::min());
  return static_cast<To>(static_cast<Wide>(((x >= kLow) & (x < -kLow)) ? x : kLow));
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_TO_INTEGER_H_
