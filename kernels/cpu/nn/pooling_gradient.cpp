// MaxPoolGrad, MaxPoolGradV2, MaxPool3DGrad, AvgPoolGrad and AvgPool3DGrad. If several elements of
// a window are the maximum, the 2-D op gives the gradient to the first, the 3-D op to each, as in
// TensorFlow.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/common/dims.h"
#include "kernels/common/epilogue.h"
#include "kernels/common/half_lanes.h"
#include "kernels/common/pooling.h"

namespace grapnel {
namespace {

// A pool over [batch, spatial..., channels]; channels first is treated as more images of one
// channel.
struct Pooled {
  Window window;
  int64_t batch = 0, channels = 0;
  int64_t pixels() const { return window[0].in * window[1].in * window[2].in; }
  int64_t positions() const { return window[0].out * window[1].out * window[2].out; }
};

// Calls pixel(index in the image) for the pixels that output position `p` reads; returns their
// number.
template <typename F>
int64_t ForPixels(const Window& w, int64_t p, F&& pixel) {
  int64_t o[3] = {p / w[2].out / w[1].out, p / w[2].out % w[1].out, p % w[2].out};
  auto [d0, d1] = w[0].Taps(o[0]);
  auto [h0, h1] = w[1].Taps(o[1]);
  auto [x0, x1] = w[2].Taps(o[2]);
  for (int64_t d = d0; d < d1; ++d) {
    int64_t plane = o[0] * w[0].stride - w[0].before + d;
    for (int64_t h = h0; h < h1; ++h) {
      int64_t row = plane * w[1].in + o[1] * w[1].stride - w[1].before + h;
      int64_t start = row * w[2].in + o[2] * w[2].stride - w[2].before;
      for (int64_t x = x0; x < x1; ++x) pixel(start + x);
    }
  }
  return (d1 - d0) * (h1 - h0) * (x1 - x0);
}

// The gradients of one image.
template <typename T>
class Image {
 public:
  using Compute = ComputeType<T>;
  Image(const Pooled& pool, Compute* sums) : pool_(pool), channels_(pool.channels), sums_(sums) {}

  void FirstLargest(const T* in, const T* gradient) const {
    std::vector<T> largest(channels_);
    std::vector<int64_t> at(channels_);
    for (int64_t p = 0; p < pool_.positions(); ++p) {
      std::fill_n(largest.begin(), channels_, std::numeric_limits<T>::lowest());
      std::fill_n(at.begin(), channels_, int64_t{-1});
      ForPixels(pool_.window, p, [&](int64_t pixel) {
        const T* from = in + pixel * channels_;
        for (int64_t c = 0; c < channels_; ++c) {
          if (from[c] > largest[c] || at[c] < 0) {
            largest[c] = from[c];
            at[c] = pixel;
          }
        }
      });
      for (int64_t c = 0; c < channels_; ++c) {
        if (at[c] < 0) continue;  // the window lies in the padding
        Compute& to = sums_[at[c] * channels_ + c];
        to = Rounded(AddOf(to, static_cast<Compute>(gradient[p * channels_ + c])));
      }
    }
  }

  void EveryLargest(const T* in, const T* out, const T* gradient) const {
    for (int64_t p = 0; p < pool_.positions(); ++p) {
      const T *top = out + p * channels_, *grad = gradient + p * channels_;
      ForPixels(pool_.window, p, [&](int64_t pixel) {
        const T* from = in + pixel * channels_;
        Compute* to = sums_ + pixel * channels_;
        for (int64_t c = 0; c < channels_; ++c) {
          if (from[c] == top[c]) to[c] = Rounded(AddOf(to[c], static_cast<Compute>(grad[c])));
        }
      });
    }
  }

  void Mean(const T* gradient) const {
    for (int64_t p = 0; p < pool_.positions(); ++p) {
      int64_t count = ForPixels(pool_.window, p, [](int64_t) {});
      Compute factor = Rounded(Compute(1) / static_cast<Compute>(std::max<int64_t>(count, 1)));
      const T* grad = gradient + p * channels_;
      ForPixels(pool_.window, p, [&](int64_t pixel) {
        Compute* to = sums_ + pixel * channels_;
        if constexpr (kSteps) {
          AddScaled(grad, factor, to);
          return;
        }
        GRAPNEL_VECTORIZE
        for (int64_t c = 0; c < channels_; ++c)
          to[c] = AddOf(to[c], MulOf(static_cast<Compute>(grad[c]), factor));
      });
    }
  }

 private:
  // TensorFlow sums halves with rounding at each step; its bfloat16 goes through oneDNN.
  static constexpr bool kSteps = std::is_same_v<T, Eigen::half>;

  static Compute Rounded(Compute value) {
    if constexpr (kSteps)
      return RoundedTo<T>(value);
    else
      return value;
  }

  void AddScaled(const T* gradient, float factor, float* to) const {
    using Lanes = SteppedLanes<T>;
    int64_t c = 0;
    for (; c + Lanes::kCount <= channels_; c += Lanes::kCount)
      (Lanes::At(to + c) + Lanes::At(gradient + c) * Lanes(factor)).To(to + c);
    for (; c < channels_; ++c)
      to[c] = Rounded(to[c] + Rounded(static_cast<float>(gradient[c]) * factor));
  }

  const Pooled& pool_;
  int64_t channels_;
  Compute* sums_;
};

enum class PoolKind { kFirstLargest, kEveryLargest, kMean };

struct GradientAttrs {
  PoolAttrs pool;
  PoolKind kind;
  bool sizes_are_inputs = false;
};

Expected<Pooled> ResolvePool(const PoolAttrs& attrs, llvm::ArrayRef<int64_t> input,
                             llvm::ArrayRef<int64_t> gradient, const Tensor* output) {
  const WindowAttrs& window = attrs.window;
  Pooled pool;
  ASSIGN_OR_RETURN(pool.window, attrs.Resolve(input));
  pool.batch = input[0];
  pool.channels = input[window.channel_dim()];
  Dims expected = window.OutputDims(pool.batch, pool.window, pool.channels);
  if (gradient != llvm::ArrayRef<int64_t>(expected))
    return MakeError("the gradient must have shape {0}, not {1}", DimsText(expected),
                     DimsText(gradient));
  if (output && output->dims() != llvm::ArrayRef<int64_t>(expected))
    return MakeError("orig_output must have shape {0}, not {1}", DimsText(expected),
                     DimsText(output->dims()));
  if (window.channels_first) {
    pool.batch *= pool.channels;
    pool.channels = 1;
  }
  return pool;
}

template <typename T>
Error PoolGradient(KernelContext& ctx, const GradientAttrs& attrs) {
  using Compute = ComputeType<T>;
  bool mean = attrs.kind == PoolKind::kMean;
  Dims dims;
  if (mean) {
    ASSIGN_OR_RETURN(dims, ShapeFrom(ctx.input(0)));
  } else {
    dims.assign(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  }
  const Tensor& gradient = ctx.input(mean ? 1 : 2);
  ASSIGN_OR_RETURN(Pooled pool,
                   ResolvePool(attrs.pool, dims, gradient.dims(), mean ? nullptr : &ctx.input(1)));
  ASSIGN_OR_RETURN(Tensor * result, ctx.Allocate(0, dims));
  if (result->num_elements() == 0) return Error::success();
  int64_t image = pool.pixels() * pool.channels, results = pool.positions() * pool.channels;
  const Window& w = pool.window;
  double cost = results * w[0].kernel * w[1].kernel * w[2].kernel * 0.6;
  ctx.ParallelFor(pool.batch, cost, [&](int64_t begin, int64_t end) {
    std::vector<Compute> wide(kIsSmallFloat<T> ? image : 0);
    for (int64_t b = begin; b < end; ++b) {
      T* to = result->data<T>() + b * image;
      Compute* sums = wide.data();
      if constexpr (!kIsSmallFloat<T>) sums = to;
      std::fill_n(sums, image, Compute(0));
      Image<T> gradients(pool, sums);
      const T* grad = gradient.data<T>() + b * results;
      if (attrs.kind == PoolKind::kFirstLargest) {
        gradients.FirstLargest(ctx.input(0).data<T>() + b * image, grad);
      } else if (attrs.kind == PoolKind::kEveryLargest) {
        gradients.EveryLargest(ctx.input(0).data<T>() + b * image,
                               ctx.input(1).data<T>() + b * results, grad);
      } else if constexpr (!std::is_integral_v<T>) {
        gradients.Mean(grad);
      }
      if constexpr (kIsSmallFloat<T>) Narrow(sums, to, image);
    }
  });
  return Error::success();
}

template <PoolKind kind>
Expected<KernelFn> MakePoolGradient(const KernelSetup& setup) {
  GradientAttrs attrs;
  attrs.kind = kind;
  llvm::StringRef op = setup.node().op();
  ASSIGN_OR_RETURN(attrs.pool.window, ReadWindowAttrs(setup, op.contains("3D") ? 3 : 2));
  attrs.pool.sizes = setup.node().GetInts("ksize");
  attrs.sizes_are_inputs = op == "MaxPoolGradV2";
  if (!attrs.sizes_are_inputs) RETURN_IF_ERROR(CheckPool(attrs.pool, false));
  if (kind != PoolKind::kMean && setup.input_type(0) != setup.input_type(2))
    return MakeError(
        "the input has dtype {0} and the gradient has dtype {1}: both must have the same dtype",
        DataTypeName(setup.input_type(0)), DataTypeName(setup.input_type(2)));
  KernelFn fn;
  ForType(setup.output_type(0), RealTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs](KernelContext& ctx) -> Error {
      if (!attrs.sizes_are_inputs) return PoolGradient<T>(ctx, attrs);
      auto given = attrs;
      RETURN_IF_ERROR(ReadPoolInputs(ctx, 3, false, given.pool));
      return PoolGradient<T>(ctx, given);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("MaxPoolGrad", MakePoolGradient<PoolKind::kFirstLargest>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("MaxPoolGradV2", MakePoolGradient<PoolKind::kFirstLargest>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("MaxPool3DGrad", MakePoolGradient<PoolKind::kEveryLargest>,
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("AvgPoolGrad", MakePoolGradient<PoolKind::kMean>,
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("AvgPool3DGrad", MakePoolGradient<PoolKind::kMean>,
                   OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
