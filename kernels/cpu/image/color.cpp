// Pixel colors: RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation, AdjustContrastv2. Hue, saturation
// and value are in [0, 1].
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/epilogue.h"

namespace grapnel {
namespace {

template <typename T>
T Between0And1(T x) {
  return std::min(std::max(x, T(0)), T(1));
}

// `Turn` is the type that computes the offsets of 1/3 and 2/3 of the hue circle.
template <typename T, typename Turn = T>
void RgbToHsv(const T* rgb, T* hsv) {
  T r = rgb[0], g = rgb[1], b = rgb[2];
  T value = std::max(r, std::max(g, b)), range = value - std::min(r, std::min(g, b));
  T norm = T(1) / (T(6) * range), hue;
  if (r == value)
    hue = norm * (g - b);
  else if (g == value)
    hue = static_cast<T>(norm * (b - r) + Turn(2) / Turn(6));
  else
    hue = static_cast<T>(norm * (r - g) + Turn(4) / Turn(6));
  if (!(range > T(0))) hue = T(0);
  hsv[0] = hue < T(0) ? hue + T(1) : hue;
  hsv[1] = value > T(0) ? range / value : T(0);
  hsv[2] = value;
}

// Follows TensorFlow's saturation kernel, which works in sixths of the hue circle. A hue rounded up
// to a full circle, or NaN, falls in no sixth and gives black.
void SixthsToRgb(const float* hsv, float* rgb) {
  float chroma = hsv[1] * hsv[2], least = hsv[2] - chroma, hue = hsv[0] * 6;
  float between = chroma * (1 - std::abs(std::fmod(hue, 2.0f) - 1));
  const float levels[3] = {0, between, chroma};
  static constexpr int kLevels[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1},
                                        {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
  bool is_in_turn = hue >= 0 && hue < 6;
  const int* level = kLevels[is_in_turn ? static_cast<int>(hue) : 0];
  for (int i = 0; i < 3; ++i) rgb[i] = (is_in_turn ? levels[level[i]] : 0) + least;
}

template <typename T>
void HsvToRgb(const T* hsv, T* rgb) {
  T hue = hsv[0] * T(6), saturation = hsv[1], value = hsv[2];
  T parts[3] = {Between0And1(std::abs(hue - T(3)) - T(1)),
                Between0And1(T(2) - std::abs(hue - T(2))),
                Between0And1(T(2) - std::abs(hue - T(4)))};
  for (int i = 0; i < 3; ++i) rgb[i] = ((T(1) - saturation) + saturation * parts[i]) * value;
}

// Rotates the hue by `turns` full circles; the largest and the smallest component stay exact.
void TurnHue(const float* rgb, float* out, float turns) {
  float r = rgb[0], g = rgb[1], b = rgb[2];
  float high = std::max(r, std::max(g, b)), low = std::min(r, std::min(g, b)), range = high - low;
  float hue = 0;  // in sixths of the circle
  if (range > 0) {
    if (r == high)
      hue = (g - b) / range;
    else if (g == high)
      hue = 2 + (b - r) / range;
    else
      hue = 4 + (r - g) / range;
  }
  hue = std::fmod(hue + turns * 6, 6.0f);
  if (hue < 0) hue += 6;
  int sixth = hue >= 0 ? std::min(static_cast<int>(hue), 5) : 0;  // NaN falls in no sixth
  float ratio = hue - static_cast<float>(sixth);
  float middle = sixth % 2 == 0 ? low + range * ratio : high - range * ratio;
  static constexpr int kOrder[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1},
                                       {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
  const float levels[3] = {low, middle, high};
  for (int i = 0; i < 3; ++i) out[i] = levels[kOrder[sixth][i]];
}

// Applies f(in, out) to every three-channel pixel, in T or in float.
template <typename T, typename F>
Error ForPixels(KernelContext& ctx, double cost, F&& f) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 1 || in.dim(in.rank() - 1) != 3)
    return MakeError("the last dimension must be 3 channels, got shape {0}", DimsText(in.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  using Compute = ComputeType<T>;
  const T* from = in.data<T>();
  T* to = out->data<T>();
  ctx.ParallelFor(in.num_elements() / 3, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Compute pixel[3], result[3];
      for (int c = 0; c < 3; ++c) pixel[c] = static_cast<Compute>(from[3 * i + c]);
      f(pixel, result);
      for (int c = 0; c < 3; ++c) to[3 * i + c] = static_cast<T>(result[c]);
    }
  });
  return Error::success();
}

template <bool to_hsv>
Expected<KernelFn> MakeConversion(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.output_type(0), FloatTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [](KernelContext& ctx) {
      return ForPixels<T>(ctx, 6, [](const auto* in, auto* out) {
        if constexpr (to_hsv)
          RgbToHsv(in, out);
        else
          HsvToRgb(in, out);
      });
    };
    return true;
  });
  return fn;
}

using AdjustTypes = TypeList<float, Eigen::half>;

Expected<float> ScalarInput(const KernelContext& ctx, const char* name) {
  if (ctx.input(0).rank() < 3)
    return MakeError("images must have rank 3 or more, not shape {0}",
                     DimsText(ctx.input(0).dims()));
  if (ctx.input(1).num_elements() != 1)
    return MakeError("{0} must have one element, got shape {1}", name,
                     DimsText(ctx.input(1).dims()));
  return *ctx.input(1).data<float>();
}

template <typename T>
Error AdjustHue(KernelContext& ctx) {
  ASSIGN_OR_RETURN(float delta, ScalarInput(ctx, "delta"));
  return ForPixels<T>(ctx, 15, [delta](const float* in, float* out) { TurnHue(in, out, delta); });
}

template <typename T>
Error AdjustSaturation(KernelContext& ctx) {
  ASSIGN_OR_RETURN(float scale, ScalarInput(ctx, "scale"));
  return ForPixels<T>(ctx, 12, [scale](const float* in, float* out) {
    float hsv[3];
    RgbToHsv<float, double>(in, hsv);
    hsv[1] = Between0And1(hsv[1] * scale);
    SixthsToRgb(hsv, out);
  });
}

// Stretches each channel of each image around its own mean.
template <typename T>
Error AdjustContrast(KernelContext& ctx) {
  ASSIGN_OR_RETURN(float factor, ScalarInput(ctx, "contrast_factor"));
  const Tensor& in = ctx.input(0);
  int64_t channels = in.dim(in.rank() - 1), pixels = in.dim(in.rank() - 2) * in.dim(in.rank() - 3);
  int64_t image = pixels * channels;
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
  if (out->num_elements() == 0) return Error::success();
  const T* from = in.data<T>();
  T* to = out->data<T>();
  ctx.ParallelFor(in.num_elements() / image, image * 1.5, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(channels);
    for (int64_t i = begin; i < end; ++i) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < channels; ++c)
          sums[c] += static_cast<float>(from[i * image + p * channels + c]);
      }
      for (int64_t c = 0; c < channels; ++c) sums[c] /= static_cast<double>(pixels);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < channels; ++c) {
          int64_t at = i * image + p * channels + c;
          float mean = static_cast<float>(sums[c]);
          to[at] = static_cast<T>((static_cast<float>(from[at]) - mean) * factor + mean);
        }
      }
    }
  });
  return Error::success();
}

template <Error (*as_float)(KernelContext&), Error (*as_half)(KernelContext&)>
Expected<KernelFn> MakeAdjust(const KernelSetup& setup) {
  return KernelFn(setup.input_type(0) == proto::DT_HALF ? as_half : as_float);
}

GRAPNEL_CPU_KERNEL("RGBToHSV", MakeConversion<true>, OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("HSVToRGB", MakeConversion<false>, OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("AdjustHue", (MakeAdjust<AdjustHue<float>, AdjustHue<Eigen::half>>),
                   OfTypes("T", DataTypesOf(AdjustTypes())));
GRAPNEL_CPU_KERNEL("AdjustSaturation",
                   (MakeAdjust<AdjustSaturation<float>, AdjustSaturation<Eigen::half>>),
                   OfTypes("T", DataTypesOf(AdjustTypes())));
GRAPNEL_CPU_KERNEL("AdjustContrastv2",
                   (MakeAdjust<AdjustContrast<float>, AdjustContrast<Eigen::half>>),
                   OfTypes("T", DataTypesOf(AdjustTypes())));

}  // namespace
}  // namespace grapnel
