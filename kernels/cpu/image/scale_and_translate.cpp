// ScaleAndTranslate and its gradient: resamples an image with one of eight filters, each axis
// separately.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"

namespace grapnel {
namespace {

struct Filter {
  float radius;
  float (*weight)(float x);  // of a distance x >= 0
};

template <int kRadius>
float Lanczos(float x) {
  constexpr float kPi = std::numbers::pi_v<float>, kSize = kRadius;
  if (x > kSize) return 0;
  if (x <= 1e-3f) return 1;
  return kSize * std::sin(kPi * x) * std::sin(kPi * x / kSize) / (kPi * kPi * x * x);
}

float Gauss(float x) {
  constexpr float kRadius = 1.5f, kSigma = kRadius / 3;
  return x >= kRadius ? 0 : std::exp(-x * x / (2 * kSigma * kSigma));
}
float Box(float x) { return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0; }
float Triangle(float x) { return x < 1 ? 1 - x : 0; }
float KeysCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}
float MitchellCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

Expected<Filter> FilterOf(llvm::StringRef name) {
  if (name == "lanczos1") return Filter{1, Lanczos<1>};
  if (name == "lanczos3") return Filter{3, Lanczos<3>};
  if (name == "lanczos5") return Filter{5, Lanczos<5>};
  if (name == "gaussian") return Filter{1.5f, Gauss};
  if (name == "box") return Filter{1, Box};
  if (name == "triangle") return Filter{1, Triangle};
  if (name == "keyscubic") return Filter{2, KeysCubic};
  if (name == "mitchellcubic") return Filter{2, MitchellCubic};
  return MakeError(
      "kernel_type must be lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic or "
      "mitchellcubic, got '{0}'",
      name);
}

// The inputs of one output pixel: `weights` for the pixels from `begin` on.
struct Span {
  int64_t begin = 0;
  std::vector<float> weights;
};

// Whether a pixel is within reach depends on rounding, so products must be rounded as TensorFlow's
// are.
std::vector<Span> SpansOf(const Filter& filter, int64_t in, int64_t out, float scale,
                          float translation, bool antialias) {
#pragma clang fp contract(off)
  float inverse = 1 / scale, shift = -inverse * translation;
  float widening = antialias ? std::max(inverse, 1.0f) : 1.0f;
  float reach = filter.radius * widening, last = static_cast<float>(in - 1);
  std::vector<Span> spans(out);
  for (int64_t i = 0; i < out; ++i) {
    float center = (static_cast<float>(i) + 0.5f) * inverse + shift;
    if (!(center >= 0 && center <= static_cast<float>(in))) continue;  // outside the image
    Span& span = spans[i];
    span.begin = static_cast<int64_t>(std::clamp(std::ceil(center - reach - 0.5f), 0.0f, last));
    int64_t end =
        static_cast<int64_t>(std::clamp(std::floor(center + reach - 0.5f), 0.0f, last)) + 1;
    float total = 0;
    for (int64_t at = span.begin; at < end; ++at) {
      float distance = static_cast<float>(at) + 0.5f - center;
      span.weights.push_back(filter.weight(std::abs(distance / widening)));
      total += span.weights.back();
    }
    if (std::abs(total) < 1000 * std::numeric_limits<float>::min()) continue;
    for (float& weight : span.weights) weight *= 1 / total;
  }
  return spans;
}

// Returns the transpose of `spans`: the outputs that each input pixel contributes to.
std::vector<Span> Transposed(const std::vector<Span>& spans, int64_t in) {
  std::vector<Span> result(in);
  for (int64_t i = 0; i < static_cast<int64_t>(spans.size()); ++i) {
    for (size_t k = 0; k < spans[i].weights.size(); ++k) {
      Span& span = result[spans[i].begin + static_cast<int64_t>(k)];
      if (span.weights.empty()) span.begin = i;
      // The outputs in a gap do not use this pixel, so their weights are 0.
      span.weights.resize(i - span.begin, 0);
      span.weights.push_back(spans[i].weights[k]);
    }
  }
  return result;
}

// Combines the rows of [batch, rows, row] with the weights of the spans.
template <typename T>
void MixRows(KernelContext& ctx, const T* in, int64_t batch, int64_t rows, int64_t row,
             const std::vector<Span>& spans, float* out) {
  int64_t out_rows = static_cast<int64_t>(spans.size());
  ctx.ParallelFor(batch * out_rows, 5.0 * row, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Span& span = spans[i % out_rows];
      float* to = out + i * row;
      std::fill_n(to, row, 0.0f);
      for (size_t k = 0; k < span.weights.size(); ++k) {
        const T* from = in + (i / out_rows * rows + span.begin + static_cast<int64_t>(k)) * row;
        for (int64_t j = 0; j < row; ++j) to[j] += span.weights[k] * static_cast<float>(from[j]);
      }
    }
  });
}

struct Resampling {
  std::vector<Span> rows, columns;
};

// `scale` and `translation` map an image of in_height x in_width to out_height x out_width.
Expected<Resampling> Plan(const Filter& filter, bool antialias, const Tensor& scale,
                          const Tensor& translation, int64_t in_height, int64_t in_width,
                          int64_t out_height, int64_t out_width) {
  for (const Tensor* tensor : {&scale, &translation}) {
    if (tensor->rank() != 1 || tensor->num_elements() != 2)
      return MakeError("scale and translation must be vectors of two elements, got shape {0}",
                       DimsText(tensor->dims()));
  }
  const float *s = scale.data<float>(), *t = translation.data<float>();
  if (!(s[0] > 0 && s[1] > 0)) return MakeError("scale must be positive, got {0}, {1}", s[0], s[1]);
  if (in_height < 1 || in_width < 1 || out_height < 1 || out_width < 1)
    return MakeError(
        "an image of {0} x {1} cannot become one of {2} x {3}: all four sizes must be at least 1",
        in_height, in_width, out_height, out_width);
  return Resampling{SpansOf(filter, in_height, out_height, s[0], t[0], antialias),
                    SpansOf(filter, in_width, out_width, s[1], t[1], antialias)};
}

// Resamples the rows first, then the columns, as TensorFlow does.
template <typename T>
Error Resample(KernelContext& ctx, const Tensor& in, const Resampling& plan, Tensor& out) {
  int64_t batch = in.dim(0), rows = in.dim(1), columns = in.dim(2), channels = in.dim(3);
  int64_t out_rows = static_cast<int64_t>(plan.rows.size());
  ASSIGN_OR_RETURN(Tensor between,
                   ctx.Scratch(proto::DT_FLOAT, {batch, out_rows, columns, channels}));
  MixRows(ctx, in.data<T>(), batch, rows, columns * channels, plan.rows, between.data<float>());
  MixRows(ctx, between.data<float>(), batch * out_rows, columns, channels, plan.columns,
          out.data<float>());
  return Error::success();
}

Expected<KernelFn> MakeResample(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Filter filter, FilterOf(setup.node().GetString("kernel_type", "lanczos3")));
  bool antialias = setup.node().GetBool("antialias", true);
  return KernelFn([filter, antialias](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &size = ctx.input(1);
    if (in.rank() != 4)
      return MakeError("images must have rank 4, got shape {0}", DimsText(in.dims()));
    if (size.rank() != 1 || size.num_elements() != 2)
      return MakeError("size must be a vector of two elements, got shape {0}",
                       DimsText(size.dims()));
    ASSIGN_OR_RETURN(Resampling plan, Plan(filter, antialias, ctx.input(2), ctx.input(3), in.dim(1),
                                           in.dim(2), size.IntAt(0), size.IntAt(1)));
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {in.dim(0), size.IntAt(0), size.IntAt(1), in.dim(3)}));
    Error error = MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
    ForType(in.dtype(), RealTypes(), [&](auto tag) {
      llvm::consumeError(std::move(error));
      error = Resample<typename decltype(tag)::type>(ctx, in, plan, *out);
      return true;
    });
    return error;
  });
}

Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Filter filter, FilterOf(setup.node().GetString("kernel_type", "lanczos3")));
  bool antialias = setup.node().GetBool("antialias", true);
  return KernelFn([filter, antialias](KernelContext& ctx) -> Error {
    const Tensor &grads = ctx.input(0), &image = ctx.input(1);
    if (grads.rank() != 4 || image.rank() != 4)
      return MakeError("grads and original_image must have rank 4, got shapes {0} and {1}",
                       DimsText(grads.dims()), DimsText(image.dims()));
    ASSIGN_OR_RETURN(Resampling plan, Plan(filter, antialias, ctx.input(2), ctx.input(3),
                                           image.dim(1), image.dim(2), grads.dim(1), grads.dim(2)));
    plan = {Transposed(plan.rows, image.dim(1)), Transposed(plan.columns, image.dim(2))};
    // Only the height and width of the image are used.
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {grads.dim(0), image.dim(1), image.dim(2), grads.dim(3)}));
    return Resample<float>(ctx, grads, plan, *out);
  });
}

GRAPNEL_CPU_KERNEL("ScaleAndTranslate", MakeResample, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("ScaleAndTranslateGrad", MakeGradient, OfTypes("T", {proto::DT_FLOAT}));

}  // namespace
}  // namespace grapnel
