// FusedBatchNormGrad, V2 and V3, and BiasAddGrad: gradients that sum over all dimensions but the
// channels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/common/half_fold.h"

namespace grapnel {
namespace {

// A tensor as [outer, channels, inner]; inner is 1 for channels last.
struct Layout {
  int64_t outer = 0, channels = 0, inner = 1;
};

Layout LayoutOf(llvm::ArrayRef<int64_t> dims, bool channels_first) {
  size_t channel = channels_first ? 1 : dims.size() - 1;
  return {*NumElements(dims.take_front(channel)), dims[channel],
          *NumElements(dims.drop_front(channel + 1))};
}

// Adds f(element, channel) to the sum of each channel. Blocks depend only on shapes, so the result
// does not depend on the threads.
template <typename Sum, typename F>
std::vector<Sum> ChannelSums(KernelContext& ctx, const Layout& layout, F&& f) {
  int64_t channels = layout.channels;
  int64_t per_block = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, channels * layout.inner));
  int64_t blocks = (layout.outer + per_block - 1) / per_block;
  std::vector<Sum> partial(blocks * channels), sums(channels);
  ctx.ParallelFor(
      blocks, per_block * channels * layout.inner * 0.6, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          Sum* to = partial.data() + b * channels;
          for (int64_t i = b * per_block; i < std::min(layout.outer, (b + 1) * per_block); ++i) {
            if (layout.inner == 1) {
              for (int64_t c = 0; c < channels; ++c)
                to[c] = AddOf<Sum>(to[c], f(i * channels + c, c));
              continue;
            }
            for (int64_t c = 0; c < channels; ++c) {
              Sum sum = Sum(0);
              int64_t plane = (i * channels + c) * layout.inner;
              for (int64_t k = 0; k < layout.inner; ++k) sum = AddOf<Sum>(sum, f(plane + k, c));
              to[c] = AddOf<Sum>(to[c], sum);
            }
          }
        }
      });
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < channels; ++c) sums[c] = AddOf<Sum>(sums[c], partial[b * channels + c]);
  }
  return sums;
}

Expected<bool> ChannelsFirst(const Node& node) {
  std::string format = node.GetString("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW")
    return MakeError("data_format '{0}' is not NHWC, NCHW, NDHWC or NCDHW", format);
  return format[1] == 'C';
}

struct NormAttrs {
  bool channels_first = false, training = true;
  int most_rank = 4;  // the maximum rank that data_format describes
  float epsilon = 1e-4f;
};

Error CheckInputs(const KernelContext& ctx, const NormAttrs& attrs) {
  static constexpr const char* kNames[] = {"scale", "the mean", "the variance"};
  const Tensor& x = ctx.input(1);
  if (x.rank() < 4 || x.rank() > attrs.most_rank)
    return MakeError("x must have rank {0}, not shape {1}", attrs.most_rank == 4 ? "4" : "4 or 5",
                     DimsText(x.dims()));
  if (ctx.input(0).dims() != x.dims())
    return MakeError("x and y_backprop must have the same shape, got shapes {0} and {1}",
                     DimsText(x.dims()), DimsText(ctx.input(0).dims()));
  int64_t channels = x.dim(attrs.channels_first ? 1 : x.rank() - 1);
  for (int i = 2; i < 5; ++i) {
    if (ctx.input(i).rank() != 1 || ctx.input(i).dim(0) != channels)
      return MakeError("{0} must be a vector of {1} elements, got shape {2}", kNames[i - 2],
                       channels, DimsText(ctx.input(i).dims()));
  }
  return Error::success();
}

// In training, mean and variance depend on x, so their gradients contribute too.
template <typename T>
Error NormGradient(KernelContext& ctx, const NormAttrs& attrs) {
  RETURN_IF_ERROR(CheckInputs(ctx, attrs));
  const Tensor& x = ctx.input(1);
  Layout layout = LayoutOf(x.dims(), attrs.channels_first);
  int64_t channels = layout.channels;
  const T *grad = ctx.input(0).data<T>(), *in = x.data<T>();
  const float *scale = ctx.input(2).data<float>(), *mean = ctx.input(3).data<float>(),
              *variance = ctx.input(4).data<float>();
  std::vector<double> sums = ChannelSums<double>(
      ctx, layout, [grad](int64_t i, int64_t) { return static_cast<float>(grad[i]); });
  std::vector<double> products =
      ChannelSums<double>(ctx, layout, [grad, in, mean](int64_t i, int64_t c) {
        return static_cast<float>(grad[i]) * (static_cast<float>(in[i]) - mean[c]);
      });
  float* out[2];
  for (int i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(Tensor * vector, ctx.Allocate(1 + i, {channels}));
    out[i] = vector->data<float>();
  }
  for (int i = 3; i < ctx.num_outputs(); ++i) {
    ASSIGN_OR_RETURN(Tensor * unused, ctx.Allocate(i, {}));
    *unused->data<float>() = 0;
  }
  // x_backprop = a * gradient + b * (x - mean) + d
  std::vector<float> a(channels), b(channels), d(channels);
  double count = static_cast<double>(std::max<int64_t>(1, layout.outer * layout.inner));
  for (int64_t c = 0; c < channels; ++c) {
    double squared = static_cast<double>(variance[c]) + attrs.epsilon,
           inverse = 1 / std::sqrt(squared);
    out[0][c] = static_cast<float>(products[c] * inverse);
    out[1][c] = static_cast<float>(sums[c]);
    a[c] = static_cast<float>(scale[c] * inverse);
    if (!attrs.training) continue;
    b[c] = static_cast<float>(-scale[c] * inverse * products[c] / squared / count);
    d[c] = static_cast<float>(-scale[c] * inverse * sums[c] / count);
  }
  ASSIGN_OR_RETURN(Tensor * result, ctx.Allocate(0, x.dims()));
  T* to = result->data<T>();
  int64_t width = layout.inner == 1 ? channels : layout.inner;
  int64_t rows = width == 0 ? 0 : x.num_elements() / width;
  ctx.ParallelFor(rows, width * 0.7, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t first = r % std::max<int64_t>(1, channels), step = 0, at = r * width;
      if (layout.inner == 1) first = 0, step = 1;
      for (int64_t i = 0; i < width; ++i, ++at) {
        int64_t c = first + i * step;
        to[at] = static_cast<T>(a[c] * static_cast<float>(grad[at]) +
                                b[c] * (static_cast<float>(in[at]) - mean[c]) + d[c]);
      }
    }
  });
  return Error::success();
}

using NormTypes = TypeList<float, Eigen::half, Eigen::bfloat16>;

Expected<KernelFn> MakeNormGradient(const KernelSetup& setup) {
  NormAttrs attrs;
  ASSIGN_OR_RETURN(attrs.channels_first, ChannelsFirst(setup.node()));
  attrs.most_rank = static_cast<int>(setup.node().GetString("data_format", "NHWC").size());
  attrs.training = setup.node().GetBool("is_training", true);
  attrs.epsilon = setup.node().GetFloat("epsilon", 1e-4f);
  KernelFn fn;
  ForType(setup.output_type(0), NormTypes(), [&](auto tag) {
    fn = [attrs](KernelContext& ctx) {
      return NormGradient<typename decltype(tag)::type>(ctx, attrs);
    };
    return true;
  });
  return fn;
}

template <typename T>
Error BiasGradient(KernelContext& ctx, bool channels_first) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 2)
    return MakeError("the gradient must have rank 2 or more, not shape {0}", DimsText(in.dims()));
  Layout layout = LayoutOf(in.dims(), channels_first);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {layout.channels}));
  const T* from = in.data<T>();
  // With channels last, TensorFlow sums bfloat16 in bfloat16, row by row; half always in float.
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) {
    if (layout.inner == 1) {
      int64_t channels = layout.channels, rows = channels == 0 ? 0 : in.num_elements() / channels;
      ctx.ParallelFor(channels, 4.0 * rows, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c)
          out->data<T>()[c] = T(FoldColumn(HalfFold::kSum, from + c, rows, channels));
      });
      return Error::success();
    }
  }
  using Sum = ComputeType<T>;
  std::vector<Sum> sums = ChannelSums<Sum>(
      ctx, layout, [from](int64_t i, int64_t) { return static_cast<Sum>(from[i]); });
  for (int64_t c = 0; c < layout.channels; ++c) out->data<T>()[c] = static_cast<T>(sums[c]);
  return Error::success();
}

Expected<KernelFn> MakeBiasGradient(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(bool channels_first, ChannelsFirst(setup.node()));
  KernelFn fn;
  ForType(setup.output_type(0), NumberTypes(), [&](auto tag) {
    fn = [channels_first](KernelContext& ctx) {
      return BiasGradient<typename decltype(tag)::type>(ctx, channels_first);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("FusedBatchNormGrad", MakeNormGradient,
                   OfTypes("T", DataTypesOf(TypeList<float>())));
GRAPNEL_CPU_KERNEL("FusedBatchNormGradV2", MakeNormGradient, OfTypes("T", DataTypesOf(NormTypes())),
                   OfTypes("U", {proto::DT_FLOAT}));
GRAPNEL_CPU_KERNEL("FusedBatchNormGradV3", MakeNormGradient, OfTypes("T", DataTypesOf(NormTypes())),
                   OfTypes("U", {proto::DT_FLOAT}));
GRAPNEL_CPU_KERNEL("BiasAddGrad", MakeBiasGradient, OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
