// Shared code of the UniformQuantized ops: a stored integer, the level, represents (level - zero
// point) * scale, with one scale per tensor or per slice of an axis, and rescaling in integer
// arithmetic (tensorflow/core/kernels/uniform_quant_ops/math_utils.h).
#ifndef GRAPNEL_KERNELS_CPU_QUANTIZED_UNIFORM_QUANTIZED_H_
#define GRAPNEL_KERNELS_CPU_QUANTIZED_UNIFORM_QUANTIZED_H_

#include <limits>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {

// Scales and zero points: one of each, or one per index of the axis.
struct UniformScales {
  llvm::ArrayRef<float> scales;
  llvm::ArrayRef<int32_t> zeros;

  float scale(int64_t i) const { return scales[scales.size() == 1 ? 0 : i]; }
  int32_t zero(int64_t i) const { return zeros[zeros.size() == 1 ? 0 : i]; }
};

// Reads inputs `first` and `first + 1` for a tensor of shape `dims`. `axis` -1 expects scalars.
// Scales must be positive unless `any_sign`.
Expected<UniformScales> UniformScalesIn(const KernelContext& ctx, int first,
                                        llvm::ArrayRef<int64_t> dims, int64_t axis,
                                        bool any_sign = false);

// Reads attribute `key`, which must be -1 or more.
Expected<int64_t> QuantizationAxis(const Node& node, const char* key);

// The attributes `prefix`quantization_min_val and `prefix`quantization_max_val.
struct LevelBounds {
  int32_t low, high;
};
Expected<LevelBounds> LevelBoundsOf(const Node& node, llvm::StringRef prefix);

// Returns a level as TensorFlow reads it: 32-bit levels pass through float and lose their last
// bits.
template <typename T>
int32_t ReadLevel(T level) {
  if constexpr (sizeof(T) < 4) {
    return level;
  } else {
    auto rounded = static_cast<float>(level);
    return rounded < 2147483648.0f ? static_cast<int32_t>(rounded)
                                   : std::numeric_limits<int32_t>::min();
  }
}

// Computes x * multiplier, rounded once; the multiplier is stored as 31 bits and a shift.
class FixedMultiplier {
 public:
  static Expected<FixedMultiplier> Of(double multiplier);
  // Returns (level - from_zero) * multiplier + to_zero, clamped to the bounds.
  int32_t operator()(int32_t level, int32_t from_zero, int32_t to_zero, LevelBounds bounds) const;

 private:
  int32_t digits_ = 0;
  int shift_ = 0;
};

// Quantizes floats to int8 with a scale and a zero point derived from their range, as hybrid ops do
// with their left operand.
struct AsymmetricScale {
  float scale;
  int32_t zero;
};
AsymmetricScale QuantizeAsymmetrically(llvm::ArrayRef<float> numbers, int8_t* levels);

// Maps element i to slice i / inner % count of the axis; without an axis, all to slice 0.
struct AxisSlices {
  int64_t count = 1, inner = 1;
  AxisSlices(llvm::ArrayRef<int64_t> dims, int64_t axis);
  int64_t operator()(int64_t i) const { return i / inner % count; }
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_QUANTIZED_UNIFORM_QUANTIZED_H_
