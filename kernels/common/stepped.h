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
class Stepped {
 public:
  using Number = T;

  Stepped() = default;
  explicit Stepped(float value) : value_(RoundedTo<T>(value)) {}

  float value() const { return value_; }

  friend Stepped operator+(Stepped a, Stepped b) { return Stepped(a.value_ + b.value_); }
  friend Stepped operator-(Stepped a, Stepped b) { return Stepped(a.value_ - b.value_); }
  friend Stepped operator*(Stepped a, Stepped b) { return Stepped(a.value_ * b.value_); }
  friend Stepped operator/(Stepped a, Stepped b) { return Stepped(a.value_ / b.value_); }
  friend Stepped operator-(Stepped a) { return Stepped(-a.value_); }
  friend bool operator<(Stepped a, Stepped b) { return a.value_ < b.value_; }
  friend bool operator>(Stepped a, Stepped b) { return a.value_ > b.value_; }
  friend bool operator==(Stepped a, Stepped b) { return a.value_ == b.value_; }
  friend Stepped Exp(Stepped a) { return Stepped(std::exp(a.value_)); }
  friend Stepped Log1p(Stepped a) { return Stepped(std::log1p(a.value_)); }
  friend Stepped Log(Stepped a) { return Stepped(std::log(a.value_)); }
  friend Stepped Abs(Stepped a) { return Stepped(std::abs(a.value_)); }

 private:
  float value_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_STEPPED_H_
