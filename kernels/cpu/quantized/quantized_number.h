// Conversion between real numbers in a range and levels, the small integers of quantized tensors.
// Rounding is that of tensorflow/core/kernels/quantization_utils.h, which converts single numbers
// in double and whole tensors in float.
#ifndef GRAPNEL_KERNELS_CPU_QUANTIZED_QUANTIZED_NUMBER_H_
#define GRAPNEL_KERNELS_CPU_QUANTIZED_QUANTIZED_NUMBER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The real numbers that the lowest and the highest integer represent.
struct QuantizedRange {
  float low = 0, high = 0;
};

template <typename T>
constexpr int64_t kLowestLevel = std::is_signed_v<T> ? -(int64_t{1} << (8 * sizeof(T) - 1)) : 0;
template <typename T>
constexpr int64_t kHighestLevel = kLowestLevel<T> + (int64_t{1} << (8 * sizeof(T))) - 1;
// The number of values of T.
template <typename T>
constexpr double kLevels = static_cast<double>(kHighestLevel<T> - kLowestLevel<T> + 1);

// Returns the integer for x, unclamped: it may be outside the range of T.
template <typename T>
int64_t LevelOf(float x, QuantizedRange range) {
  if (range.low == range.high) return kLowestLevel<T>;
  double width = (range.high - range.low) * (kLevels<T> / (kLevels<T> - 1));
  double scale = kLevels<T> / width;
  double level = std::round(x * scale) - std::round(range.low * scale);
  // Values beyond int64_t are outside every T anyway, so clamping does not change the result.
  constexpr double kMost = 4e18;
  if (std::isnan(level)) level = -kMost;
  return static_cast<int64_t>(std::clamp(level, -kMost, kMost)) + kLowestLevel<T>;
}

template <typename T>
T Quantized(float x, QuantizedRange range) {
  return static_cast<T>(std::clamp(LevelOf<T>(x, range), kLowestLevel<T>, kHighestLevel<T>));
}

template <typename T>
float Unquantized(T level, QuantizedRange range) {
  if (range.low == range.high) return range.low;
  double width = (range.high - range.low) * (kLevels<T> / (kLevels<T> - 1));
  double scale = width / kLevels<T>;
  float step = static_cast<float>(scale);
  double low = std::round(range.low / step) * step;
  return static_cast<float>(low + (static_cast<double>(level) - kLowestLevel<T>)*scale);
}

// Converts integers to numbers, for whole tensors.
template <typename T>
class Unquantizer {
 public:
  explicit Unquantizer(QuantizedRange range)
      : step_(static_cast<float>((range.high - range.low) / (kLevels<T> - 1))) {
    float low = range.high == range.low ? range.low : std::round(range.low / step_) * step_;
    first_ = low - static_cast<float>(kLowestLevel<T>) * step_;
  }
  float operator()(T level) const { return first_ + static_cast<float>(level) * step_; }

 private:
  float step_, first_;
};

// Converts numbers to integers, for whole tensors.
template <typename T>
class Quantizer {
 public:
  explicit Quantizer(QuantizedRange range)
      : scale_(range.high == range.low
                   ? 0.0f
                   : static_cast<float>((kLevels<T> - 1) / (range.high - range.low))),
        offset_(std::round(range.low * scale_) - static_cast<float>(kLowestLevel<T>)) {}
  T operator()(float x) const {
    // The largest int32 is not representable as a float; this is the next lower float.
    constexpr float kLow = static_cast<float>(kLowestLevel<T>),
                    kHigh = sizeof(T) == 4 ? 2147483520.0f : static_cast<float>(kHighestLevel<T>);
    float level = std::round(x * scale_) - offset_;
    return static_cast<T>(level > kLow ? std::min(level, kHigh) : kLow);
  }

 private:
  float scale_, offset_;
};

template <typename T>
float StepOf(QuantizedRange range) {
  return (range.high - range.low) / static_cast<float>(kHighestLevel<T> - kLowestLevel<T>);
}

// Returns the range of the 32-bit products of A and B.
template <typename A, typename B>
QuantizedRange RangeOfProduct(QuantizedRange a, QuantizedRange b) {
  float step = StepOf<A>(a) * StepOf<B>(b);
  return {step * static_cast<float>(kLowestLevel<int32_t>),
          step * static_cast<float>(kHighestLevel<int32_t>)};
}

// Reads inputs `first` and `first + 1`, which must have one element each.
Expected<QuantizedRange> RangeIn(const KernelContext& ctx, int first);
// RangeIn(), but the second input must be greater than the first.
Expected<QuantizedRange> WideRangeIn(const KernelContext& ctx, int first);
// Sets outputs `first` and `first + 1` to the ends of the range.
Error PutRange(KernelContext& ctx, int first, QuantizedRange range);

// Checks the dtypes of the node's first inputs and outputs; DT_INVALID matches any.
Error CheckTypes(const KernelSetup& setup, llvm::ArrayRef<DataType> inputs,
                 llvm::ArrayRef<DataType> outputs);

// Calls f(TypeTag) with the integer type that underlies a quantized dtype.
template <typename F>
bool ForQuantized(DataType dtype, F&& f) {
  switch (dtype) {
    case proto::DT_QINT8:
      return f(TypeTag<int8_t>());
    case proto::DT_QUINT8:
      return f(TypeTag<uint8_t>());
    case proto::DT_QINT16:
      return f(TypeTag<int16_t>());
    case proto::DT_QUINT16:
      return f(TypeTag<uint16_t>());
    case proto::DT_QINT32:
      return f(TypeTag<int32_t>());
    default:
      return false;
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_QUANTIZED_QUANTIZED_NUMBER_H_
