#include "kernels/cpu/quantized/uniform_quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/dispatch.h"

namespace grapnel {

Expected<UniformScales> UniformScalesIn(const KernelContext& ctx, int first,
                                        llvm::ArrayRef<int64_t> dims, int64_t axis, bool any_sign) {
  const Tensor &scales = ctx.input(first), &zeros = ctx.input(first + 1);
  if (scales.dims() != zeros.dims())
    return MakeError("scales and zero_points shape must be same, got {0} and {1}",
                     DimsText(scales.dims()), DimsText(zeros.dims()));
  int64_t rank = static_cast<int64_t>(dims.size());
  if (axis < -1 || axis >= rank)
    return MakeError("quantization_axis must be -1 or in range [0, {0}), got {1}", rank, axis);
  bool fits = axis < 0 ? scales.rank() == 0 : scales.rank() == 1 && scales.dim(0) == dims[axis];
  if (!fits)
    return MakeError(
        "scales and zero_points must be {0}, got shape {1}",
        axis < 0 ? "scalars" : llvm::formatv("vectors of {0} elements", dims[axis]).str(),
        DimsText(scales.dims()));
  UniformScales result = {llvm::ArrayRef<float>(scales.data<float>(), scales.num_elements()),
                          llvm::ArrayRef<int32_t>(zeros.data<int32_t>(), zeros.num_elements())};
  for (float scale : result.scales) {
    if (!any_sign && !(scale > 0)) return MakeError("scales must be all positive, got {0}", scale);
  }
  return result;
}

Expected<int64_t> QuantizationAxis(const Node& node, const char* key) {
  int64_t axis = node.GetInt(key, -1);
  if (axis >= -1) return axis;
  return MakeError("{0} must be >= -1, got {1}", key, axis);
}

Expected<LevelBounds> LevelBoundsOf(const Node& node, llvm::StringRef prefix) {
  int64_t ends[2];
  const char* names[2] = {"quantization_min_val", "quantization_max_val"};
  for (int i : {0, 1}) {
    ends[i] = node.GetInt((prefix + names[i]).str());
    if (ends[i] != static_cast<int32_t>(ends[i]))
      return MakeError("{0}{1} must fit into 32 bits, got {2}", prefix, names[i], ends[i]);
  }
  return LevelBounds{static_cast<int32_t>(ends[0]), static_cast<int32_t>(ends[1])};
}

Expected<FixedMultiplier> FixedMultiplier::Of(double multiplier) {
  if (!std::isfinite(multiplier) || multiplier <= 0)
    return MakeError("a ratio of scales must be positive and finite, got {0}", multiplier);
  FixedMultiplier fixed;
  constexpr int64_t kOne = int64_t{1} << 31;
  double fraction = std::frexp(multiplier, &fixed.shift_);
  auto digits = static_cast<int64_t>(std::round(fraction * static_cast<double>(kOne)));
  if (digits == kOne) {
    digits /= 2;
    ++fixed.shift_;
  }
  if (fixed.shift_ < -31) {
    fixed.shift_ = 0;
    digits = 0;
  }
  if (fixed.shift_ > 30) {
    fixed.shift_ = 30;
    digits = kOne - 1;
  }
  fixed.digits_ = static_cast<int32_t>(digits);
  return fixed;
}

int32_t FixedMultiplier::operator()(int32_t level, int32_t from_zero, int32_t to_zero,
                                    LevelBounds bounds) const {
  int down = 31 - shift_;
  int64_t product = int64_t{SubOf(level, from_zero)} * digits_ + (int64_t{1} << (down - 1));
  int64_t rounded = std::clamp<int64_t>(product >> down, std::numeric_limits<int32_t>::min(),
                                        std::numeric_limits<int32_t>::max());
  int32_t result = AddOf(static_cast<int32_t>(rounded), to_zero);
  return std::max(std::min(result, bounds.high), bounds.low);
}

AsymmetricScale QuantizeAsymmetrically(llvm::ArrayRef<float> numbers, int8_t* levels) {
  constexpr double kLow = -128, kHigh = 127;
  double low = 0, high = 0;
  for (float x : numbers) {
    low = std::min(low, static_cast<double>(x));
    high = std::max(high, static_cast<double>(x));
  }
  auto scale = static_cast<float>((high - low) / (kHigh - kLow));
  float inverse = high - low != 0 ? static_cast<float>((kHigh - kLow) / (high - low)) : 0.0f;
  if (scale == 0 || !std::isfinite(scale) || !std::isfinite(inverse)) {
    std::fill_n(levels, numbers.size(), int8_t{0});
    return {1, 0};
  }
  // 0 must be exact. Each end of the range gives a zero point; uses the one with the smaller error.
  double from_low = kLow - low / scale, from_high = kHigh - high / scale;
  bool low_is_closer = -kLow + std::abs(low / scale) < kHigh + std::abs(high / scale);
  double zero = std::round(std::clamp(low_is_closer ? from_low : from_high, kLow, kHigh));
  for (size_t i = 0; i < numbers.size(); ++i) {
    double level = std::floor(numbers[i] * inverse + 0.5f) + static_cast<float>(zero);
    levels[i] = static_cast<int8_t>(std::isnan(level) ? kLow : std::clamp(level, kLow, kHigh));
  }
  return {scale, static_cast<int32_t>(zero)};
}

AxisSlices::AxisSlices(llvm::ArrayRef<int64_t> dims, int64_t axis) {
  if (axis < 0) return;
  count = std::max<int64_t>(dims[axis], 1);
  for (int64_t dim : dims.drop_front(axis + 1)) inner *= dim;
  inner = std::max<int64_t>(inner, 1);
}

}  // namespace grapnel
