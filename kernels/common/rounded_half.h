// Numbers of 16 bits whose every operation rounds, as in most of TensorFlow's CPU kernels: there
// half and bfloat16 are types like any other, each step of an expression gives one of them.
#ifndef GRAPNEL_KERNELS_COMMON_STEPPED_H_
#define GRAPNEL_KERNELS_COMMON_STEPPED_H_

#include <cmath>

#include "kernels/common/dispatch.h"

namespace grapnel {

// `value` as the nearest T.
template <typename T>
float RoundedTo(float value) {
  return static_cast<float>(static_cast<T>(value));
}

// A T, half or bfloat16, held as the float that it is. An op whose steps TensorFlow rounds has a
// function Steps() that is written with these.
template <typename T>
class RoundedHalf {
 public:
  using Number = T;

  RoundedHalf() = default;
  explicit RoundedHalf(float value) : value_(RoundedTo<T>(value)) {}

  float value() const { return value_; }

  friend RoundedHalf operator+(RoundedHalf a, RoundedHalf b) { return RoundedHalf(a.value_ + b.value_); }
  friend RoundedHalf operator-(RoundedHalf a, RoundedHalf b) { return RoundedHalf(a.value_ - b.value_); }
  friend RoundedHalf operator*(RoundedHalf a, RoundedHalf b) { return RoundedHalf(a.value_ * b.value_); }
  friend RoundedHalf operator/(RoundedHalf a, RoundedHalf b) { return RoundedHalf(a.value_ / b.value_); }
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

#endif  // GRAPNEL_KERNELS_COMMON_STEPPED_H_
