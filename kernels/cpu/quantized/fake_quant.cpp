// FakeQuantWithMinMaxArgs, -Vars, -VarsPerChannel and their gradients: rounds each element to the
// nearest value of a small integer type between min and max, which are first nudged so that 0 is
// exact.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Levels {
  float lowest = 0, highest = 255;  // of the integers
};

struct Range {
  float low, high, scale;
  // 1 / scale, computed from the ends of the range, without the rounding error of `scale`.
  float inverse;
  bool none;  // both ends are 0: there is no range to quantize to
};

// Moves the range so that the zero point is an integer.
Range Nudge(float low, float high, const Levels& levels) {
  float scale = (high - low) / (levels.highest - levels.lowest);
  float zero = levels.lowest - low / scale;
  float nudged = zero < levels.lowest    ? levels.lowest
                 : zero > levels.highest ? levels.highest
                                         : std::round(zero);
  return {(levels.lowest - nudged) * scale, (levels.highest - nudged) * scale, scale,
          (levels.highest - levels.lowest) / (high - low), low == 0 && high == 0};
}

// Rounds `n` elements, `step` apart. If both ends of the range are 0, the result is 0. Otherwise
// NaN stays NaN, and if low is above high, the result is low. TensorFlow divides by the scale in
// FakeQuantWithMinMaxVars and multiplies by its inverse in the other two ops, which rounds halfway
// cases differently.
template <bool divides>
void Quantize(const Range& range, const float* in, int64_t n, int64_t step, float* out) {
  float zero = std::floor(-range.low * range.inverse + 0.5f);
  for (int64_t i = 0; i < n * step; i += step) {
    float x = in[i] > range.high ? range.high : in[i];
    x = x < range.low ? range.low : x;
    // A separate statement: a fused multiply-subtract would round halfway cases differently.
    float steps = divides ? (x - range.low) / range.scale : (x - range.low) * range.inverse;
    out[i] = range.none ? 0 : std::floor(steps - zero + 0.5f) * range.scale;
  }
}

// The gradient passes through where nothing was clamped; elsewhere it flows to the end of the range
// that the element was clamped to. `out` may be `grad`.
void Gradient(const Range& range, const float* grad, const float* in, int64_t n, int64_t step,
              float* out, float* low, float* high) {
  double below = 0, above = 0;
  for (int64_t i = 0; i < n * step; i += step) {
    float up = grad[i];
    bool inside = range.none || (in[i] >= range.low && in[i] <= range.high);
    out[i] = inside ? up : up * 0.0f;
    if (range.none) continue;
    if (in[i] < range.low) below += up;
    if (in[i] > range.high) above += up;
  }
  if (low) *low = static_cast<float>(below);
  if (high) *high = static_cast<float>(above);
}

Expected<Levels> ReadLevels(const Node& node) {
  int64_t bits = node.GetInt("num_bits", 8);
  if (bits < 2 || bits > 16) return MakeError("num_bits must be in [2, 16], got {0}", bits);
  return Levels{node.GetBool("narrow_range") ? 1.0f : 0.0f,
                static_cast<float>((int64_t{1} << bits) - 1)};
}

Error CheckSameShape(const KernelContext& ctx) {
  if (ctx.input(0).dims() == ctx.input(1).dims()) return Error::success();
  return MakeError("gradients and inputs must have the same shape, got shapes {0} and {1}",
                   DimsText(ctx.input(0).dims()), DimsText(ctx.input(1).dims()));
}

// --- One range for the tensor

template <bool divides>
void QuantizeAll(KernelContext& ctx, const Range& range, const Tensor& in, Tensor& out) {
  ctx.ParallelFor(in.num_elements(), 1, [&](int64_t begin, int64_t end) {
    Quantize<divides>(range, in.data<float>() + begin, end - begin, 1, out.data<float>() + begin);
  });
}

template <bool gradient>
Expected<KernelFn> MakeArgs(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Levels levels, ReadLevels(setup.node()));
  float low = setup.node().GetFloat("min", -6), high = setup.node().GetFloat("max", 6);
  if (!(low < high)) return MakeError("min must be below max, got {0} and {1}", low, high);
  Range range = Nudge(low, high, levels);
  return KernelFn([range](KernelContext& ctx) -> Error {
    if (gradient) RETURN_IF_ERROR(CheckSameShape(ctx));
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, ctx.input(0).dims()));
    if (!gradient) {
      QuantizeAll<false>(ctx, range, ctx.input(0), *out);
      return Error::success();
    }
    Gradient(range, ctx.input(0).data<float>(), ctx.input(1).data<float>(), out->num_elements(), 1,
             out->data<float>(), nullptr, nullptr);
    return Error::success();
  });
}

Expected<Range> ScalarRange(const KernelContext& ctx, int at, const Levels& levels) {
  for (int i : {at, at + 1}) {
    if (ctx.input(i).num_elements() != 1)
      return MakeError("min and max must have one element each, got shape {0}",
                       DimsText(ctx.input(i).dims()));
  }
  return Nudge(*ctx.input(at).data<float>(), *ctx.input(at + 1).data<float>(), levels);
}

Expected<KernelFn> MakeVars(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Levels levels, ReadLevels(setup.node()));
  return KernelFn([levels](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Range range, ScalarRange(ctx, 1, levels));
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, ctx.input(0).dims()));
    QuantizeAll<true>(ctx, range, ctx.input(0), *out);
    return Error::success();
  });
}

Expected<KernelFn> MakeVarsGradient(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Levels levels, ReadLevels(setup.node()));
  return KernelFn([levels](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(CheckSameShape(ctx));
    ASSIGN_OR_RETURN(Range range, ScalarRange(ctx, 2, levels));
    ASSIGN_OR_RETURN(Tensor * low, ctx.Allocate(1, {}));
    ASSIGN_OR_RETURN(Tensor * high, ctx.Allocate(2, {}));
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, ctx.input(0).dims()));
    Gradient(range, ctx.input(0).data<float>(), ctx.input(1).data<float>(), out->num_elements(), 1,
             out->data<float>(), low->data<float>(), high->data<float>());
    return Error::success();
  });
}

// --- One range per channel, the last dimension

Expected<std::vector<Range>> ChannelRanges(const KernelContext& ctx, int at, const Levels& levels) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 1) return MakeError("inputs must have rank 1 or more, got a scalar");
  int64_t channels = in.dim(in.rank() - 1);
  for (int i : {at, at + 1}) {
    if (ctx.input(i).rank() != 1 || ctx.input(i).dim(0) != channels)
      return MakeError("min and max must be vectors of {0} elements, got shape {1}", channels,
                       DimsText(ctx.input(i).dims()));
  }
  std::vector<Range> ranges;
  for (int64_t c = 0; c < channels; ++c) {
    ranges.push_back(
        Nudge(ctx.input(at).data<float>()[c], ctx.input(at + 1).data<float>()[c], levels));
  }
  return ranges;
}

template <bool gradient>
Expected<KernelFn> MakePerChannel(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Levels levels, ReadLevels(setup.node()));
  return KernelFn([levels](KernelContext& ctx) -> Error {
    if (gradient) RETURN_IF_ERROR(CheckSameShape(ctx));
    ASSIGN_OR_RETURN(std::vector<Range> ranges, ChannelRanges(ctx, gradient ? 2 : 1, levels));
    int64_t channels = static_cast<int64_t>(ranges.size());
    float *low = nullptr, *high = nullptr;
    if (gradient) {
      ASSIGN_OR_RETURN(Tensor * low_sums, ctx.Allocate(1, {channels}));
      ASSIGN_OR_RETURN(Tensor * high_sums, ctx.Allocate(2, {channels}));
      low = low_sums->data<float>();
      high = high_sums->data<float>();
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, ctx.input(0).dims()));
    if (channels == 0) return Error::success();
    int64_t rows = out->num_elements() / channels;
    const float *in = ctx.input(0).data<float>(),
                *second = gradient ? ctx.input(1).data<float>() : nullptr;
    ctx.ParallelFor(channels, rows * 1.5, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        if (gradient)
          Gradient(ranges[c], in + c, second + c, rows, channels, out->data<float>() + c, low + c,
                   high + c);
        else
          Quantize<false>(ranges[c], in + c, rows, channels, out->data<float>() + c);
      }
    });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxArgs", MakeArgs<false>);
GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxArgsGradient", MakeArgs<true>);
GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxVars", MakeVars);
GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxVarsGradient", MakeVarsGradient);
GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxVarsPerChannel", MakePerChannel<false>);
GRAPNEL_CPU_KERNEL("FakeQuantWithMinMaxVarsPerChannelGradient", MakePerChannel<true>);

}  // namespace
}  // namespace grapnel
