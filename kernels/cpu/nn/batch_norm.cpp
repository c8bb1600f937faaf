// FusedBatchNorm, V2, V3 and _FusedBatchNormEx, for training and inference.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/epilogue.h"

namespace grapnel {
namespace {

// x as [outer, channels, inner]; inner is 1 for channels last.
struct Layout {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t per_channel() const { return outer * inner; }
};

struct BatchNormAttrs {
  bool channels_first = false, training = true, relu = false, side_input = false;
  int most_rank = 4;  // the maximum rank that data_format describes
  float epsilon = 1e-4f, factor = 1;
};

// Returns the sum of f(x, channel) for each channel. The blocks, and so the result, do not depend
// on the number of threads.
template <typename T, typename F>
std::vector<double> ChannelSums(KernelContext& ctx, const Layout& layout, const T* x, F&& f) {
  constexpr int64_t kBlock = 128;
  int64_t channels = layout.channels;
  int64_t blocks = layout.inner == 1 ? (layout.outer + kBlock - 1) / kBlock : layout.outer;
  std::vector<float> partial(blocks * channels);
  double cost =
      static_cast<double>(layout.per_channel()) * channels / std::max<int64_t>(blocks, 1) * 0.5;
  ctx.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* sums = partial.data() + b * channels;
      if (layout.inner == 1) {
        for (int64_t i = b * kBlock; i < std::min(layout.outer, (b + 1) * kBlock); ++i) {
          const T* row = x + i * channels;
          for (int64_t c = 0; c < channels; ++c) sums[c] += f(static_cast<float>(row[c]), c);
        }
        continue;
      }
      for (int64_t c = 0; c < channels; ++c) {
        const T* plane = x + (b * channels + c) * layout.inner;
        double sum = 0;
        for (int64_t i = 0; i < layout.inner; ++i) sum += f(static_cast<float>(plane[i]), c);
        sums[c] = static_cast<float>(sum);
      }
    }
  });
  std::vector<double> sums(channels);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += partial[b * channels + c];
  }
  return sums;
}

// The normalization of each channel: subtract the mean, multiply by the factor, add the offset. The
// mean comes first because it may be far larger than the spread of x.
struct Normal {
  const float *mean, *factor, *offset;
};

// y = (x - mean) * factor + offset (+ side), optionally through Relu; x, y and side may share
// memory.
template <typename T>
void Normalize(KernelContext& ctx, const Layout& layout, const T* x, const Normal& normal,
               const T* side, bool relu, T* y) {
  const float *mean = normal.mean, *factor = normal.factor, *offset = normal.offset;
  auto one = [&](int64_t i, float m, float f, float b) {
    float value = (static_cast<float>(x[i]) - m) * f + b;
    if (side) value += static_cast<float>(side[i]);
    if (relu) value = value < 0 ? 0 : value;
    y[i] = static_cast<T>(value);
  };
  int64_t rows = layout.inner == 1 ? layout.outer : layout.outer * layout.channels;
  int64_t width = layout.inner == 1 ? layout.channels : layout.inner;
  ctx.ParallelFor(rows, width * 0.5, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (layout.inner == 1) {
        GRAPNEL_VECTORIZE
        for (int64_t c = 0; c < width; ++c) one(r * width + c, mean[c], factor[c], offset[c]);
      } else {
        int64_t c = r % layout.channels;
        float m = mean[c], f = factor[c], b = offset[c];
        GRAPNEL_VECTORIZE
        for (int64_t i = 0; i < width; ++i) one(r * width + i, m, f, b);
      }
    }
  });
}

Expected<Layout> LayoutOf(const Tensor& x, bool channels_first, int most_rank) {
  if (x.rank() < 4 || x.rank() > most_rank)
    return MakeError("x must have rank {0}, not shape {1}", most_rank == 4 ? "4" : "4 or 5",
                     DimsText(x.dims()));
  Layout layout;
  layout.channels = x.dim(channels_first ? 1 : x.rank() - 1);
  layout.outer = channels_first ? x.dim(0) : *NumElements(x.dims().drop_back(1));
  layout.inner = channels_first ? *NumElements(x.dims().drop_front(2)) : 1;
  return layout;
}

Error CheckVectors(KernelContext& ctx, int64_t channels, const BatchNormAttrs& attrs) {
  constexpr const char* kNames[] = {"x", "scale", "offset", "mean", "variance"};
  for (int i = 1; i < 5; ++i) {
    const Tensor& tensor = ctx.input(i);
    // The running statistics are not read when the new ones replace them.
    bool unused = i > 2 && attrs.training && attrs.factor == 1;
    if (unused || (tensor.rank() == 1 && tensor.dim(0) == channels)) continue;
    return MakeError("{0} must be a vector of {1} elements, got shape {2}", kNames[i], channels,
                     DimsText(tensor.dims()));
  }
  return Error::success();
}

// Writes the statistics of this batch to outputs 3 and 4, and their blend with the running
// statistics to outputs 1 and 2.
template <typename T>
void Statistics(KernelContext& ctx, const Layout& layout, const BatchNormAttrs& attrs,
                llvm::ArrayRef<float*> out) {
  const T* x = ctx.input(0).data<T>();
  double n = static_cast<double>(layout.per_channel());
  std::vector<double> sums = ChannelSums(ctx, layout, x, [](float v, int64_t) { return v; });
  std::vector<float> mean(layout.channels);
  for (int64_t c = 0; c < layout.channels; ++c) mean[c] = static_cast<float>(sums[c] / n);
  const float* means = mean.data();
  std::vector<double> squares = ChannelSums(
      ctx, layout, x, [means](float v, int64_t c) { return (v - means[c]) * (v - means[c]); });
  double correction = n > 1 ? n / (n - 1) : 1;
  for (int64_t c = 0; c < layout.channels; ++c) {
    float variance = static_cast<float>(squares[c] / n);
    float corrected = static_cast<float>(squares[c] / n * correction);
    out[3][c] = mean[c];
    out[4][c] = variance;
    float old_mean = attrs.factor == 1 ? 0 : ctx.input(3).data<float>()[c];
    float old_variance = attrs.factor == 1 ? 0 : ctx.input(4).data<float>()[c];
    out[1][c] = (1 - attrs.factor) * old_mean + attrs.factor * mean[c];
    out[2][c] = (1 - attrs.factor) * old_variance + attrs.factor * corrected;
  }
}

template <typename T>
Error BatchNorm(KernelContext& ctx, const BatchNormAttrs& attrs) {
  Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
  ASSIGN_OR_RETURN(Layout layout, LayoutOf(ctx.input(0), attrs.channels_first, attrs.most_rank));
  RETURN_IF_ERROR(CheckVectors(ctx, layout.channels, attrs));
  if (attrs.side_input && ctx.input(5).dims() != ctx.input(0).dims()) {
    return MakeError("the side input has shape {0}, but x has shape {1}",
                     DimsText(ctx.input(5).dims()), DimsText(dims));
  }
  float* out[5] = {};
  for (int i = 1; i < 5; ++i) {
    ASSIGN_OR_RETURN(Tensor * vector, ctx.Allocate(i, {layout.channels}));
    out[i] = vector->data<float>();
  }
  // TensorFlow reserves memory for its GPU gradient here; on a CPU the output is empty.
  if (ctx.num_outputs() > 5) RETURN_IF_ERROR(ctx.Allocate(5, {0}).takeError());
  if (ctx.input(0).num_elements() == 0) {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    for (int i = 1; i < 5; ++i) std::fill_n(out[i], layout.channels, i < 3 ? kNone : 0);
    return ctx.Allocate(0, dims).takeError();
  }
  if (attrs.training) {
    Statistics<T>(ctx, layout, attrs, out);
  } else {
    for (int i = 1; i < 5; ++i) {
      std::copy_n(ctx.input(i % 2 ? 3 : 4).data<float>(), layout.channels, out[i]);
    }
  }
  const float* scale = ctx.input(1).data<float>();
  std::vector<float> factor(layout.channels);
  for (int64_t c = 0; c < layout.channels; ++c)
    factor[c] = scale[c] / std::sqrt(out[4][c] + attrs.epsilon);
  ASSIGN_OR_RETURN(Tensor * y, ctx.ForwardOrAllocate(0, 0, dims));
  Normalize(ctx, layout, ctx.input(0).data<T>(),
            {out[3], factor.data(), ctx.input(2).data<float>()},
            attrs.side_input ? ctx.input(5).data<T>() : nullptr, attrs.relu, y->data<T>());
  return Error::success();
}

using BatchNormTypes = TypeList<float, Eigen::half, Eigen::bfloat16>;

Expected<KernelFn> MakeBatchNorm(const KernelSetup& setup) {
  const Node& node = setup.node();
  BatchNormAttrs attrs;
  std::string format = node.GetString("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    return MakeError("data_format '{0}' is not NHWC, NCHW, NDHWC or NCDHW", format);
  }
  attrs.channels_first = format[1] == 'C';
  attrs.most_rank = static_cast<int>(format.size());
  attrs.training = node.GetBool("is_training", true);
  attrs.epsilon = node.GetFloat("epsilon", 1e-4f);
  attrs.factor = node.op() == "FusedBatchNorm" ? 1 : node.GetFloat("exponential_avg_factor", 1);
  attrs.side_input = node.GetInt("num_side_inputs", 0) > 0;
  std::string activation = node.GetString("activation_mode", "Identity");
  if (activation != "Identity" && activation != "Relu") {
    return MakeError("activation_mode '{0}' is not Identity or Relu", activation);
  }
  attrs.relu = activation == "Relu";
  if (setup.num_inputs() != (attrs.side_input ? 6 : 5)) {
    return MakeError("the node has {0} inputs, {1} were expected", setup.num_inputs(),
                     attrs.side_input ? 6 : 5);
  }
  KernelFn fn;
  ForType(setup.output_type(0), BatchNormTypes(), [&](auto tag) {
    fn = [attrs](KernelContext& ctx) {
      return BatchNorm<typename decltype(tag)::type>(ctx, attrs);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("FusedBatchNorm", MakeBatchNorm, OfTypes("T", DataTypesOf(TypeList<float>())),
                   Vector(1, 2, 3, 4));
// Scales and moments are floats for every dtype of the images.
#define GRAPNEL_BATCH_NORM_KERNEL(op)                                                \
  GRAPNEL_CPU_KERNEL(op, MakeBatchNorm, OfTypes("T", DataTypesOf(BatchNormTypes())), \
                     OfTypes("U", {proto::DT_FLOAT}), Vector(1, 2, 3, 4))
GRAPNEL_BATCH_NORM_KERNEL("FusedBatchNormV2");
GRAPNEL_BATCH_NORM_KERNEL("FusedBatchNormV3");
GRAPNEL_BATCH_NORM_KERNEL("_FusedBatchNormEx");

}  // namespace
}  // namespace grapnel
