// Conv2D, DepthwiseConv2dNative, the fused forms of both, MaxPool and AvgPool.
#include <cstring>
#include <memory>
#include <mutex>

#include "kernels/common/pooling.h"
#include "kernels/gpu/fused.h"

namespace grapnel {
namespace {

GrapnelCudaWindow WindowOf(const WindowAttrs& attrs, const Window& window, int64_t batch,
                           int64_t in_channels, int64_t out_channels) {
  GrapnelCudaWindow made;
  std::memset(&made, 0, sizeof made);
  made.channels_last = !attrs.channels_first;
  made.batch = batch;
  made.in_channels = in_channels;
  made.out_channels = out_channels;
  made.groups = 1;
  for (int i = 0; i < 2; ++i) {
    const WindowDim& dim = window[1 + i];
    made.in[i] = dim.in;
    made.out[i] = dim.out;
    made.kernel[i] = dim.kernel;
    made.stride[i] = dim.stride;
    made.dilation[i] = dim.dilation;
    made.before[i] = dim.before;
    made.after[i] = dim.after;
  }
  return made;
}

class GpuConv {
 public:
  GpuConv(const KernelSetup& setup, WindowAttrs attrs, GpuFusion fused, bool depthwise)
      : attrs_(std::move(attrs)),
        fused_(fused),
        depthwise_(depthwise),
        constant_filter_(setup.constant(1) != nullptr) {}

  Error operator()(KernelContext& ctx) const {
    const Tensor &in = ctx.input(0), &filter = ctx.input(1);
    if (in.rank() != 4 || filter.rank() != 4 || filter.num_elements() == 0) {
      return MakeError(
          "input and filter must have rank 4, and the filter must have elements, got shapes {0} "
          "and {1}",
          DimsText(in.dims()), DimsText(filter.dims()));
    }
    int64_t channels = in.dim(attrs_.channel_dim());
    // A depthwise convolution has one input channel per group, and the groups' outputs are
    // adjacent.
    int64_t inputs = depthwise_ ? filter.dim(2) == channels : filter.dim(2);
    int64_t outputs = depthwise_ ? filter.dim(2) * filter.dim(3) : filter.dim(3);
    if (channels == 0 || inputs == 0 || channels % inputs != 0 ||
        outputs % (channels / inputs) != 0) {
      return MakeError("an input of shape {0} does not fit a filter of shape {1}",
                       DimsText(in.dims()), DimsText(filter.dims()));
    }
    RETURN_IF_ERROR(CheckFusedBias(ctx, fused_, outputs));
    ASSIGN_OR_RETURN(Window window, attrs_.Resolve(in.dims(), filter.dims().take_front(2)));
    GrapnelCudaWindow spec = WindowOf(attrs_, window, in.dim(0), channels, outputs);
    spec.groups = channels / inputs;
    Dims dims = attrs_.OutputDims(in.dim(0), window, outputs);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(Tensor weights, OutputsFirst(ctx, filter));
    Tensor padded = in;
    if (spec.before[0] != spec.after[0] || spec.before[1] != spec.after[1])
      RETURN_IF_ERROR(PadUnevenly(ctx, in, spec, padded));
    return Queue(ctx, &GrapnelCudaApi::convolution, CudaType(in.dtype()), &spec, out->device_data(),
                 static_cast<const void*>(padded.device_data()),
                 static_cast<const void*>(weights.device_data()),
                 fused_.bias ? ctx.input(2).device_data() : nullptr, fused_.activation,
                 fused_.alpha);
  }

 private:
  // Converts the filter [h, w, in, out], or [h, w, in * out] with one input channel each, to the
  // module's layout; a constant filter is converted once.
  Expected<Tensor> OutputsFirst(KernelContext& ctx, const Tensor& filter) const {
    if (!constant_filter_) return Turned(ctx, filter);
    std::lock_guard lock(once_->mutex);
    if (!once_->turned) {
      ASSIGN_OR_RETURN(once_->turned, Turned(ctx, filter));
    }
    return once_->turned;
  }

  Expected<Tensor> Turned(KernelContext& ctx, const Tensor& filter) const {
    int64_t h = filter.dim(0), w = filter.dim(1);
    int64_t i = depthwise_ ? 1 : filter.dim(2), o = filter.num_elements() / (h * w * i);
    Dims dims = attrs_.channels_first ? Dims{o, i, h, w} : Dims{o, h, w, i};
    Dims from = attrs_.channels_first ? Dims{1, o, w * i * o, i * o} : Dims{1, w * i * o, i * o, o};
    ASSIGN_OR_RETURN(Tensor turned, ctx.Scratch(filter.dtype(), dims));
    RETURN_IF_ERROR(QueueCopy(ctx, filter.dtype(), dims, filter.device_data(), from,
                              turned.device_data(), DenseStrides(dims)));
    return turned;
  }

  // Copies the input into zeros, with its padding. SAME and explicit paddings can pad one side more
  // than the other, which cuDNN does not support.
  Error PadUnevenly(KernelContext& ctx, const Tensor& in, GrapnelCudaWindow& spec,
                    Tensor& padded) const {
    Dims dims(in.dims().begin(), in.dims().end());
    for (int d = 0; d < 2; ++d) {
      // The last window may end before the input does.
      spec.after[d] = std::max<int64_t>(spec.after[d], 0);
      dims[attrs_.spatial_dim(d)] += spec.before[d] + spec.after[d];
    }
    ASSIGN_OR_RETURN(padded, ctx.Scratch(in.dtype(), dims));
    RETURN_IF_ERROR(QueueFill(ctx, padded, 0));
    Dims strides = DenseStrides(dims);
    int64_t start = 0;
    for (int d = 0; d < 2; ++d) {
      start += spec.before[d] * strides[attrs_.spatial_dim(d)];
      spec.in[d] += spec.before[d] + spec.after[d];
      spec.before[d] = spec.after[d] = 0;
    }
    return QueueCopy(ctx, in.dtype(), in.dims(), in.device_data(), DenseStrides(in.dims()),
                     DeviceAt(padded, start), strides);
  }

  WindowAttrs attrs_;
  GpuFusion fused_;
  bool depthwise_, constant_filter_;
  struct Once {
    std::mutex mutex;
    Tensor turned;  // set: a constant filter, converted
  };
  std::unique_ptr<Once> once_ = std::make_unique<Once>();
};

template <bool kDepthwise>
Expected<KernelFn> MakeConv(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(setup, 2));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, attrs.rank()));
  if (attrs.strides[0] != 1 || attrs.strides[attrs.channel_dim()] != 1)
    return MakeError("strides must be 1 for batch and channels");
  if (setup.node().GetString("filter_format", "HWIO") != "HWIO")
    return MakeError("no GPU kernel for a filter that is not HWIO");
  ASSIGN_OR_RETURN(GpuFusion fused, ReadGpuFusion(setup));
  return KernelFn(GpuConv(setup, std::move(attrs), fused, kDepthwise));
}

template <bool kIsMax>
Expected<KernelFn> MakePool(const KernelSetup& setup) {
  PoolAttrs attrs;
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, 2));
  attrs.sizes = setup.node().GetInts("ksize");
  RETURN_IF_ERROR(CheckPool(attrs, kIsMax));
  int channel = attrs.window.channel_dim();
  if (attrs.sizes[0] != 1 || attrs.sizes[channel] != 1 || attrs.window.strides[0] != 1 ||
      attrs.window.strides[channel] != 1) {
    return MakeError("no GPU kernel that pools over batch or channels");
  }
  return KernelFn([attrs, channel](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Window window, attrs.Resolve(in.dims()));
    GrapnelCudaWindow spec =
        WindowOf(attrs.window, window, in.dim(0), in.dim(channel), in.dim(channel));
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, attrs.window.OutputDims(in.dim(0), window, in.dim(channel))));
    return Queue(ctx, &GrapnelCudaApi::pool, CudaType(in.dtype()), static_cast<int32_t>(kIsMax),
                 out->device_data(), in.device_data(), &spec);
  });
}

GRAPNEL_GPU_KERNEL("Conv2D", MakeConv<false>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("_FusedConv2D", MakeConv<false>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("DepthwiseConv2dNative", MakeConv<true>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("_FusedDepthwiseConv2dNative", MakeConv<true>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("MaxPool", MakePool<true>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("AvgPool", MakePool<false>, OfTypes("T", GpuFloats()));

}  // namespace
}  // namespace grapnel
