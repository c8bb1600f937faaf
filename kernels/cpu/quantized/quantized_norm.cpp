// QuantizedInstanceNorm and QuantizedBatchNormWithGlobalNormalization, on [batch, height, width,
// depth].
#include <vector>

#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

// --- QuantizedInstanceNorm

struct InstanceAttrs {
  bool is_given;
  QuantizedRange given;
  float epsilon, least_width;
};

// Normalizes each channel of each image to mean 0 and variance 1.
std::vector<float> Normalized(const Tensor& in, float step, float epsilon) {
  int64_t images = in.dim(0), pixels = in.dim(1) * in.dim(2), depth = in.dim(3);
  std::vector<float> normed(in.num_elements());
  const auto* levels = in.data<uint8_t>();
  for (int64_t i = 0; i < images * depth; ++i) {
    int64_t first = i / depth * pixels * depth + i % depth;
    double sum = 0, squares = 0;
    for (int64_t p = 0; p < pixels; ++p) sum += levels[first + p * depth];
    auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    for (int64_t p = 0; p < pixels; ++p) {
      float apart = step * (static_cast<float>(levels[first + p * depth]) - mean);
      squares += static_cast<double>(apart * apart);
    }
    auto variance = static_cast<float>(squares / static_cast<double>(pixels));
    float scale = 1 / std::sqrt(variance + epsilon);
    for (int64_t p = 0; p < pixels; ++p)
      normed[first + p * depth] =
          step * (static_cast<float>(levels[first + p * depth]) - mean) * scale;
  }
  return normed;
}

Error NormalizeImages(KernelContext& ctx, const InstanceAttrs& attrs) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != 4)
    return MakeError("images must be [batch, height, width, depth], got shape {0}",
                     DimsText(in.dims()));
  ASSIGN_OR_RETURN(QuantizedRange range, WideRangeIn(ctx, 1));
  std::vector<float> normed = Normalized(in, (range.high - range.low) / 255.0f, attrs.epsilon);
  QuantizedRange to = attrs.given;
  if (!attrs.is_given) {
    // Ignores NaN, which a variance of at most -epsilon causes. If all elements are NaN, the range
    // is infinite.
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    to = {kInfinity, -kInfinity};
    for (float x : normed) {
      if (x < to.low) to.low = x;
      if (x > to.high) to.high = x;
    }
  }
  if (to.high - to.low < attrs.least_width) to.high = to.low + attrs.least_width;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  Quantizer<uint8_t> quantize(to);
  for (size_t i = 0; i < normed.size(); ++i) out->data<uint8_t>()[i] = quantize(normed[i]);
  return PutRange(ctx, 1, to);
}

Expected<KernelFn> MakeInstanceNorm(const KernelSetup& setup) {
  const Node& node = setup.node();
  InstanceAttrs attrs = {node.GetBool("output_range_given"),
                         {node.GetFloat("given_y_min"), node.GetFloat("given_y_max")},
                         node.GetFloat("variance_epsilon", 1e-5f),
                         node.GetFloat("min_separation", 1e-3f)};
  if (attrs.is_given && !(attrs.given.low < attrs.given.high))
    return MakeError("given_y_min must be less than given_y_max, got {0} and {1}", attrs.given.low,
                     attrs.given.high);
  return KernelFn([attrs](KernelContext& ctx) { return NormalizeImages(ctx, attrs); });
}

// --- QuantizedBatchNormWithGlobalNormalization

// The 32-bit result has 11 fractional bits and covers -2^20 to 2^20.
constexpr QuantizedRange kFixedPoint = {-(1 << 20), 1 << 20};

struct ChannelScale {
  int32_t scale, offset;
};

// Reads mean, variance, beta and gamma: a tensor and its range each.
Expected<std::vector<ChannelScale>> ChannelScales(const KernelContext& ctx, float epsilon,
                                                  bool with_gamma) {
  int64_t depth = ctx.input(0).dim(3);
  QuantizedRange ranges[4];
  for (int k = 0; k < 4; ++k) {
    const Tensor& vector = ctx.input(3 + 3 * k);
    if (vector.rank() != 1 || vector.dim(0) != depth)
      return MakeError("input {0} must be a vector of {1} elements, got shape {2}", 3 + 3 * k,
                       depth, DimsText(vector.dims()));
    ASSIGN_OR_RETURN(ranges[k], RangeIn(ctx, 4 + 3 * k));
  }
  std::vector<ChannelScale> scales(depth);
  for (int64_t c = 0; c < depth; ++c) {
    float values[4];
    for (int k = 0; k < 4; ++k)
      values[k] = Unquantized(ctx.input(3 + 3 * k).data<uint8_t>()[c], ranges[k]);
    float scale = 1.0f / std::sqrt(values[1] + epsilon);
    if (with_gamma) scale *= values[3];
    float offset = -values[0] * scale + values[2];
    scales[c] = {Quantized<int32_t>(scale, kFixedPoint), Quantized<int32_t>(offset, kFixedPoint)};
  }
  return scales;
}

Error NormalizeBatch(KernelContext& ctx, float epsilon, bool with_gamma) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != 4)
    return MakeError("images must be [batch, height, width, depth], got shape {0}",
                     DimsText(in.dims()));
  ASSIGN_OR_RETURN(QuantizedRange range, RangeIn(ctx, 1));
  ASSIGN_OR_RETURN(std::vector<ChannelScale> scales, ChannelScales(ctx, epsilon, with_gamma));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  auto one = Quantized<int32_t>(1, kFixedPoint);
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    auto value = Quantized<int32_t>(Unquantized(in.data<uint8_t>()[i], range), kFixedPoint);
    const ChannelScale& channel = scales[i % scales.size()];
    // The product wraps at 32 bits, as in TensorFlow.
    out->data<int32_t>()[i] = AddOf(MulOf(value, channel.scale) / one, channel.offset);
  }
  return PutRange(ctx, 1, kFixedPoint);
}

Expected<KernelFn> MakeBatchNorm(const KernelSetup& setup) {
  for (int i : {3, 6, 9, 12}) {
    if (setup.num_inputs() != 15 || setup.input_type(i) != proto::DT_QUINT8)
      return MakeError(
          "the node must have 15 inputs, of which mean, variance, beta and gamma (3, 6, 9 and 12) "
          "are quint8");
  }
  RETURN_IF_ERROR(CheckTypes(setup, {}, {proto::DT_QINT32}));
  float epsilon = setup.node().GetFloat("variance_epsilon");
  bool with_gamma = setup.node().GetBool("scale_after_normalization");
  return KernelFn([epsilon, with_gamma](KernelContext& ctx) {
    return NormalizeBatch(ctx, epsilon, with_gamma);
  });
}

GRAPNEL_CPU_KERNEL("QuantizedInstanceNorm", MakeInstanceNorm, OfTypes("T", {proto::DT_QUINT8}));
GRAPNEL_CPU_KERNEL("QuantizedBatchNormWithGlobalNormalization", MakeBatchNorm,
                   OfTypes("Tinput", {proto::DT_QUINT8}));

}  // namespace
}  // namespace grapnel
