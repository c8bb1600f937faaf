// From 32-bit sums back to bytes: RequantizationRange finds the range in use, Requantize converts
// to a given range, QuantizeDownAndShrinkRange does both, and the PerChannel ops have one range per
// channel.
#include <vector>

#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

// Returns the range of the numbers that occur in `in`. Its lower end is at most 0.
QuantizedRange UsedRange(const Tensor& in, QuantizedRange range) {
  int32_t low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    low = std::min(low, in.data<int32_t>()[i]);
    high = std::max(high, in.data<int32_t>()[i]);
  }
  return {std::min(0.0f, Unquantized(low, range)), Unquantized(high, range)};
}

// TensorFlow converts to unsigned bytes in fixed point with 16 fractional bits.
class ByteScaler {
 public:
  ByteScaler(QuantizedRange from, QuantizedRange to) {
    float width = from.high - from.low, new_width = to.high - to.low;
    if (new_width == 0) return;
    // Rounds as TensorFlow does: some products in double, some in float.
    auto per_unit = static_cast<float>(255.0 / static_cast<double>(new_width));
    auto center = static_cast<float>((from.low + from.high) / 2.0);
    scale_ = Truncated(255.0 * (1 << kShift) * width / new_width);
    offset_ = Truncated(center * per_unit * (1 << kShift)) -
              Truncated((1 << kShift) * (to.low * 255.0) / new_width);
  }
  uint8_t operator()(int32_t level) const {
    auto product =
        static_cast<int64_t>(static_cast<uint64_t>(scale_) * static_cast<uint64_t>(level));
    int64_t value = ((product >> 32) + offset_ + (1 << (kShift - 1))) >> kShift;
    return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
  }

 private:
  static constexpr int kShift = 16;
  static int64_t Truncated(double x) {
    return std::isnan(x) ? 0 : static_cast<int64_t>(std::clamp(x, -4e18, 4e18));
  }
  int64_t scale_ = 0, offset_ = 0;
};

Error PutLevels(KernelContext& ctx, QuantizedRange from, QuantizedRange to) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  const auto* levels = in.data<int32_t>();
  if (ctx.output_type(0) == proto::DT_QUINT8) {
    ByteScaler scale(from, to);
    for (int64_t i = 0; i < in.num_elements(); ++i) out->data<uint8_t>()[i] = scale(levels[i]);
  } else {
    Unquantizer<int32_t> real(from);
    Quantizer<int8_t> quantize(to);
    for (int64_t i = 0; i < in.num_elements(); ++i)
      out->data<int8_t>()[i] = quantize(real(levels[i]));
  }
  return PutRange(ctx, 1, to);
}

Error Requantize(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange from, RangeIn(ctx, 1));
  ASSIGN_OR_RETURN(QuantizedRange to, RangeIn(ctx, 3));
  if (!(to.low <= 0)) return MakeError("requested_output_min must be <= 0, but got {0}", to.low);
  if (!(to.high >= to.low))
    return MakeError("requested_output_max must be >= requested_output_min, but got {0} and {1}",
                     to.high, to.low);
  return PutLevels(ctx, from, to);
}

Error ShrinkRange(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange from, RangeIn(ctx, 1));
  return PutLevels(ctx, from, UsedRange(ctx.input(0), from));
}

Error FindRange(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange from, RangeIn(ctx, 1));
  return PutRange(ctx, 0, UsedRange(ctx.input(0), from));
}

Expected<KernelFn> MakeRequantize(const KernelSetup& setup) {
  if (setup.output_type(0) != proto::DT_QINT8)
    RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_QINT32}, {proto::DT_QUINT8}));
  return KernelFn(Requantize);
}
Expected<KernelFn> MakeShrinkRange(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_QINT32}, {proto::DT_QUINT8}));
  return KernelFn(ShrinkRange);
}
Expected<KernelFn> MakeFindRange(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_QINT32}, {}));
  return KernelFn(FindRange);
}

// --- One symmetric range per channel

constexpr float kLevelsPerSide = 2147483648.0f;

Error CheckChannels(const KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &low = ctx.input(1), &high = ctx.input(2);
  if (in.rank() == 4 && low.num_elements() == in.dim(3) &&
      high.num_elements() == low.num_elements())
    return Error::success();
  return MakeError(
      "expected an input of rank 4 and as many minima and maxima as its last dimension, got "
      "shapes {0}, {1} and {2}",
      DimsText(in.dims()), DimsText(low.dims()), DimsText(high.dims()));
}

float LargestOf(const KernelContext& ctx, int64_t channel) {
  return std::max(std::abs(ctx.input(1).data<float>()[channel]),
                  std::abs(ctx.input(2).data<float>()[channel]));
}

template <typename T>
void PutChannels(const Tensor& in, llvm::ArrayRef<float> scales, Tensor& out) {
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    float level = static_cast<float>(in.data<int32_t>()[i]) * scales[i % scales.size()];
    level = std::clamp(std::isnan(level) ? 0.0f : level, static_cast<float>(kLowestLevel<T>),
                       static_cast<float>(kHighestLevel<T>));
    out.data<T>()[i] = static_cast<T>(std::nearbyint(level));
  }
}

Error RequantizeChannels(KernelContext& ctx) {
  RETURN_IF_ERROR(CheckChannels(ctx));
  ASSIGN_OR_RETURN(QuantizedRange to, RangeIn(ctx, 3));
  bool is_signed = ctx.output_type(0) == proto::DT_QINT8;
  if (is_signed && !(to.low < 0))
    return MakeError("requested_output_min must be negative for an output of qint8, got {0}",
                     to.low);
  float largest = std::max(std::abs(to.low), std::abs(to.high));
  std::vector<float> scales(ctx.input(1).num_elements());
  for (size_t c = 0; c < scales.size(); ++c)
    scales[c] = (is_signed ? 127.0f : 255.0f) *
                (LargestOf(ctx, static_cast<int64_t>(c)) / largest / kLevelsPerSide);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, ctx.input(0).dims()));
  if (is_signed)
    PutChannels<int8_t>(ctx.input(0), scales, *out);
  else
    PutChannels<uint8_t>(ctx.input(0), scales, *out);
  return PutRange(ctx, 1, to);
}

Error FindRangeOfChannels(KernelContext& ctx, float most) {
  const Tensor& in = ctx.input(0);
  RETURN_IF_ERROR(CheckChannels(ctx));
  if (ctx.input(1).dim(0) != in.dim(in.rank() - 1) || ctx.input(2).dim(0) != ctx.input(1).dim(0))
    return MakeError("the first dimension of minima and maxima must be {0}, got shapes {1} and {2}",
                     in.dim(in.rank() - 1), DimsText(ctx.input(1).dims()),
                     DimsText(ctx.input(2).dims()));
  if (in.num_elements() == 0) return MakeError("input must not be empty");
  int64_t depth = in.dim(in.rank() - 1);
  std::vector<int32_t> lows(depth, std::numeric_limits<int32_t>::max()),
      highs(depth, std::numeric_limits<int32_t>::min());
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    lows[i % depth] = std::min(lows[i % depth], in.data<int32_t>()[i]);
    highs[i % depth] = std::max(highs[i % depth], in.data<int32_t>()[i]);
  }
  float largest = std::numeric_limits<float>::min();
  for (int64_t c = 0; c < depth; ++c) {
    int64_t level = std::max(std::abs(int64_t{lows[c]}), std::abs(int64_t{highs[c]}));
    largest = std::max(largest, LargestOf(ctx, c) * static_cast<float>(level) / kLevelsPerSide);
  }
  largest = std::min(largest, most);
  bool has_negative = *std::min_element(lows.begin(), lows.end()) < 0;
  return PutRange(ctx, 0, {has_negative ? -largest : 0.0f, largest});
}

Expected<KernelFn> MakeRequantizeChannels(const KernelSetup& setup) {
  if (setup.output_type(0) != proto::DT_QINT8)
    RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_QINT32}, {proto::DT_QUINT8}));
  return KernelFn(RequantizeChannels);
}
Expected<KernelFn> MakeFindRangeOfChannels(const KernelSetup& setup) {
  float most = setup.node().GetFloat("clip_value_max", std::numeric_limits<float>::infinity());
  return KernelFn([most](KernelContext& ctx) { return FindRangeOfChannels(ctx, most); });
}

#define GRAPNEL_RANGE_KERNEL(op, attr, make) \
  GRAPNEL_CPU_KERNEL(op, make, OfTypes(attr, {proto::DT_QINT32}))
GRAPNEL_RANGE_KERNEL("Requantize", "Tinput", MakeRequantize);
GRAPNEL_RANGE_KERNEL("QuantizeDownAndShrinkRange", "Tinput", MakeShrinkRange);
GRAPNEL_RANGE_KERNEL("RequantizationRange", "Tinput", MakeFindRange);
GRAPNEL_RANGE_KERNEL("RequantizePerChannel", "T", MakeRequantizeChannels);
GRAPNEL_RANGE_KERNEL("RequantizationRangePerChannel", "T", MakeFindRangeOfChannels);

}  // namespace
}  // namespace grapnel
