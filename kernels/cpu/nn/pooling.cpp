// MaxPool, MaxPoolV2, AvgPool, MaxPool3D and AvgPool3D. The mean counts only the input's elements,
// not the padding.
#include "kernels/common/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/common/rounded_half.h"

namespace grapnel {
namespace {

Expected<std::vector<int64_t>> VectorAt(const Tensor& tensor, const char* what) {
  if (tensor.rank() == 0) return MakeError("{0} must be a vector, not a scalar", what);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(tensor.IntAt(i));
  return values;
}

}  // namespace

Expected<Window> PoolAttrs::Resolve(llvm::ArrayRef<int64_t> input) const {
  if (static_cast<int>(input.size()) != window.rank()) {
    return MakeError("the input must have rank {0}, not shape {1}", window.rank(), DimsText(input));
  }
  llvm::SmallVector<int64_t, 3> kernel;
  for (int i = 0; i < window.spatial_rank; ++i) kernel.push_back(sizes[window.spatial_dim(i)]);
  return window.Resolve(input, kernel);
}

Error CheckPool(const PoolAttrs& attrs, bool is_max) {
  RETURN_IF_ERROR(CheckWindowList("ksize", attrs.sizes, attrs.window.rank()));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.window.strides, attrs.window.rank()));
  int channel = attrs.window.channel_dim();
  if (attrs.sizes[0] != 1 || attrs.window.strides[0] != 1)
    return MakeError("cannot pool over the batch: ksize and strides must be 1 for it");
  if (attrs.sizes[channel] == 1 && attrs.window.strides[channel] == 1) return Error::success();
  bool alone =
      attrs.sizes[channel] == attrs.window.strides[channel] && channel == attrs.window.rank() - 1;
  for (int i = 1; i < channel; ++i) alone &= attrs.sizes[i] == 1 && attrs.window.strides[i] == 1;
  if (!is_max || !alone) {
    return MakeError(
        "channels are pooled only by MaxPool, in no other dimension, with channels last and a "
        "stride equal to the window");
  }
  return Error::success();
}

Error ReadPoolInputs(const KernelContext& ctx, int first, bool is_max, PoolAttrs& attrs) {
  ASSIGN_OR_RETURN(attrs.sizes, VectorAt(ctx.input(first), "ksize"));
  ASSIGN_OR_RETURN(attrs.window.strides, VectorAt(ctx.input(first + 1), "strides"));
  return CheckPool(attrs, is_max);
}

namespace {

using MaxTypes = RealTypes;

// An accumulator for one output element or row of channels: start, take pixels, finish.
struct MaxOf {
  // The result for a window with only NaN or -infinity: the lowest finite number, but -infinity for
  // bfloat16, as in TensorFlow.
  template <typename T>
  static ComputeType<T> Start() {
    if constexpr (std::is_same_v<T, Eigen::bfloat16>) return -INFINITY;
    return static_cast<ComputeType<T>>(std::numeric_limits<T>::lowest());
  }
  // NaN never compares as larger, so it is ignored, as in TensorFlow.
  template <typename T>
  static T Take(T so_far, T value) {
    return value > so_far ? value : so_far;
  }
};
struct MeanOf {
  template <typename T>
  static ComputeType<T> Start() {
    return ComputeType<T>(0);
  }
  template <typename T>
  static T Take(T so_far, T value) {
    return so_far + value;
  }
};

// A mean of halves is computed in half: each step rounds, as in TensorFlow.
template <typename Op, typename T>
inline constexpr bool kRoundsSteps = std::is_same_v<Op, MeanOf>&& std::is_same_v<T, Eigen::half>;

template <typename Op, typename T>
void TakePixel(const T* from, int64_t channels, ComputeType<T>* sum) {
  if constexpr (kRoundsSteps<Op, T>) {
    for (int64_t c = 0; c < channels; ++c)
      sum[c] = RoundedTo<T>(sum[c] + static_cast<float>(from[c]));
  } else {
    GRAPNEL_VECTORIZE
    for (int64_t c = 0; c < channels; ++c)
      sum[c] = Op::Take(sum[c], static_cast<ComputeType<T>>(from[c]));
  }
}

template <typename Op, typename Number, typename T = ComputeType<Number>>
void Finish(T* out, int64_t n, int64_t count) {
  if constexpr (kRoundsSteps<Op, Number>) {
    for (int64_t i = 0; i < n; ++i) out[i] /= static_cast<T>(std::max<int64_t>(count, 1));
  } else if constexpr (std::is_same_v<Op, MeanOf>) {
    T factor = T(1) / static_cast<T>(std::max<int64_t>(count, 1));
    for (int64_t i = 0; i < n; ++i) out[i] *= factor;
  }
}

// Compute is T, or float for 16-bit floats.
template <typename Op, typename T>
void PoolRow(const Window& w, int64_t batch, int64_t d, int64_t h, int64_t channels, const T* in,
             T* out, ComputeType<T>* sums) {
  using Compute = ComputeType<T>;
  auto [d0, d1] = w[0].Taps(d);
  auto [h0, h1] = w[1].Taps(h);
  for (int64_t x = 0; x < w[2].out; ++x) {
    auto [x0, x1] = w[2].Taps(x);
    T* to = out + x * channels;
    Compute* sum = sums;
    if constexpr (std::is_same_v<T, Compute>) sum = to;
    std::fill_n(sum, channels, Op::template Start<T>());
    for (int64_t kd = d0; kd < d1; ++kd) {
      int64_t plane = batch * w[0].in + d * w[0].stride - w[0].before + kd;
      for (int64_t kh = h0; kh < h1; ++kh) {
        int64_t row = plane * w[1].in + h * w[1].stride - w[1].before + kh;
        for (int64_t kx = x0; kx < x1; ++kx) {
          const T* from = in + (row * w[2].in + x * w[2].stride - w[2].before + kx) * channels;
          TakePixel<Op>(from, channels, sum);
        }
      }
    }
    Finish<Op, T>(sum, channels, (d1 - d0) * (h1 - h0) * (x1 - x0));
    if constexpr (!std::is_same_v<T, Compute>) {
      for (int64_t c = 0; c < channels; ++c) to[c] = static_cast<T>(sum[c]);
    }
  }
}

template <typename Op, typename T>
void Pool(KernelContext& ctx, const Window& w, int64_t batch, int64_t channels, const T* in,
          T* out) {
  int64_t rows = batch * w[0].out * w[1].out;
  double cost = w[2].out * channels * w[0].kernel * w[1].kernel * w[2].kernel * 0.2;
  ctx.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    // Thread-local, so that pooling does not allocate in every run.
    static thread_local std::vector<ComputeType<T>> sums;
    if (static_cast<int64_t>(sums.size()) < channels) sums.resize(channels);
    for (int64_t i = begin; i < end; ++i) {
      int64_t h = i % w[1].out, d = i / w[1].out % w[0].out, b = i / w[1].out / w[0].out;
      PoolRow<Op>(w, b, d, h, channels, in, out + i * w[2].out * channels, sums.data());
    }
  });
}

// Computes the maximum of each `window` neighboring channels.
template <typename T>
void MaxOverChannels(KernelContext& ctx, int64_t total, int64_t window, const T* in, T* out) {
  ctx.ParallelFor(total, window, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ComputeType<T> largest = MaxOf::Start<T>();
      for (int64_t j = 0; j < window; ++j) {
        largest = MaxOf::Take(largest, static_cast<ComputeType<T>>(in[i * window + j]));
      }
      out[i] = static_cast<T>(largest);
    }
  });
}

template <typename Op, typename T>
Error PoolInput(KernelContext& ctx, const PoolAttrs& attrs) {
  const Tensor& input = ctx.input(0);
  const WindowAttrs& window_attrs = attrs.window;
  int channel = window_attrs.channel_dim();
  ASSIGN_OR_RETURN(Window window, attrs.Resolve(input.dims()));
  int64_t batch = input.dim(0), channels = input.dim(channel), per_channel = attrs.sizes[channel];
  if (channels % per_channel != 0)
    return MakeError("{0} channels are not divisible by the window of {1} channels", channels,
                     per_channel);
  Dims dims = window_attrs.OutputDims(batch, window, channels / per_channel);
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  if (per_channel > 1) {
    if constexpr (std::is_same_v<Op, MaxOf>) {
      MaxOverChannels(ctx, out->num_elements(), per_channel, input.data<T>(), out->data<T>());
    }
    return Error::success();
  }
  // Channels first is treated as a batch of planes with one channel each.
  if (window_attrs.channels_first) {
    batch *= channels;
    channels = 1;
  }
  Pool<Op>(ctx, window, batch, channels, input.data<T>(), out->data<T>());
  return Error::success();
}

template <typename Op, typename Types>
Expected<KernelFn> MakePool(const KernelSetup& setup) {
  PoolAttrs attrs;
  llvm::StringRef op = setup.node().op();
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, op.contains("3D") ? 3 : 2));
  attrs.sizes = setup.node().GetInts("ksize");
  bool sizes_are_inputs = op == "MaxPoolV2";
  constexpr bool kIsMax = std::is_same_v<Op, MaxOf>;
  if (!sizes_are_inputs) RETURN_IF_ERROR(CheckPool(attrs, kIsMax));
  KernelFn fn;
  ForType(setup.output_type(0), Types(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs, sizes_are_inputs](KernelContext& ctx) -> Error {
      if (!sizes_are_inputs) return PoolInput<Op, T>(ctx, attrs);
      PoolAttrs given = attrs;
      RETURN_IF_ERROR(ReadPoolInputs(ctx, 1, kIsMax, given));
      return PoolInput<Op, T>(ctx, given);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("MaxPool", (MakePool<MaxOf, MaxTypes>), OfTypes("T", DataTypesOf(MaxTypes())));
GRAPNEL_CPU_KERNEL("MaxPoolV2", (MakePool<MaxOf, MaxTypes>), OfTypes("T", DataTypesOf(MaxTypes())));
GRAPNEL_CPU_KERNEL("MaxPool3D", (MakePool<MaxOf, MaxTypes>),
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("AvgPool", (MakePool<MeanOf, FloatTypes>),
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("AvgPool3D", (MakePool<MeanOf, FloatTypes>),
                   OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
