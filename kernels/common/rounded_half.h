// 16-bit floats that round after every operation, as in most of TensorFlow's CPU kernels: there
// half and bfloat16 are ordinary types, so each step of an expression yields one of them.
#ifndef GRAPNEL_KERNELS_COMMON_ROUNDED_HALF_H_
#define GRAPNEL_KERNELS_COMMON_ROUNDED_HALF_H_

#include <cmath>

#include "kernels/common/dispatch.h"

namespace grapnel {

// Returns `value` rounded to the nearest T.
template <typename T>
float RoundedTo(float value) {
  return static_cast<float>(static_cast<T>(value));
}

// A T (half or bfloat16) held as a float. TensorFlow rounds after each step of some ops; the struct
// of such an op has a function PerStepRounding() on this type.
template <typename T>
class RoundedHalf {
 public:
  using Number = T;

  RoundedHalf() = default;
  explicit RoundedHalf(float value) : value_(RoundedTo<T>(value)) {}

  float value() const { return value_; }

  friend RoundedHalf operator+(RoundedHalf a, RoundedHalf b) {
    return RoundedHalf(a.value_ + b.value_);
  }
  friend RoundedHalf operator-(RoundedHalf a, RoundedHalf b) {
    return RoundedHalf(a.value_ - b.value_);
  }
  friend RoundedHalf operator*(RoundedHalf a, RoundedHalf b) {
    return RoundedHalf(a.value_ * b.value_);
  }
  friend RoundedHalf operator/(RoundedHalf a, RoundedHalf b) {
    return RoundedHalf(a.value_ / b.value_);
  }
  friend RoundedHalf operator-(RoundedHalf a) { return RoundedHalf(-a.value_); }
  friend bool operator<(RoundedHalf a, RoundedHalf b) { return a.value_ < b.value_; }
  friend bool operator>(RoundedHalf a, RoundedHalf b) { return a.value_ > b.value_; }
  friend bool operator==(RoundedHalf a, RoundedHalf b) { return a.value_ == b.value_; }
  friend RoundedHalf Exp(RoundedHalf a) { return RoundedHalf(std::exp(a.value_)); }
  friend RoundedHalf Log1p(RoundedHalf a) { return RoundedHalf(std::log1p(a.value_)); }
  friend RoundedHalf Log(RoundedHalf a) { return RoundedHalf(std::log(a.value_)); }
  friend RoundedHalf Abs(RoundedHalf a) { return RoundedHalf(std::abs(a.value_)); }

 private:
  float value_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_ROUNDED_HALF_H_
