// Conv2D, Conv3D, DepthwiseConv2dNative and their fused forms, all as one grouped convolution.
#include <algorithm>

#include "kernels/common/fused_ops.h"
#include "kernels/common/onednn_loader.h"
#include "kernels/cpu/nn/plain_conv.h"
#include "lib/exec/executor.h"

namespace grapnel {
namespace {

// A filter from a file may have any alignment.
typedef float FloatAnywhere __attribute__((aligned(1)));

using ConvTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16, int32_t>;

GrapnelConvSpec SpecOf(const ConvShape& shape) {
  GrapnelConvSpec spec;
  std::memset(&spec, 0, sizeof spec);
  spec.spatial_rank =
      shape.window[0].kernel == 1 && shape.window[0].in == 1 && shape.window[0].out == 1 ? 2 : 3;
  spec.channels_last = !shape.channels_first;
  spec.batch = shape.batch;
  spec.in_channels = shape.in_channels;
  spec.out_channels = shape.out_channels;
  spec.groups = shape.groups;
  for (int i = 0; i < spec.spatial_rank; ++i) {
    const WindowDim& dim = shape.window[3 - spec.spatial_rank + i];
    spec.in[i] = dim.in;
    spec.out[i] = dim.out;
    spec.kernel[i] = dim.kernel;
    spec.stride[i] = dim.stride;
    spec.dilation[i] = dim.dilation;
    spec.pad_before[i] = dim.before;
    spec.pad_after[i] = dim.after;
  }
  return spec;
}

// oneDNN stores in 32 bits how far padding, dilation and strides reach beyond the image, and
// generates code for each step of that distance.
bool FitsOnednn(const ConvShape& shape) {
  double bytes =
      sizeof(float) * static_cast<double>(std::max(shape.in_channels, shape.out_channels));
  for (int i = 2; i >= 0; --i) {
    const WindowDim& dim = shape.window[i];
    double reach = std::max({dim.before, dim.after, dim.stride, (dim.kernel - 1) * dim.dilation});
    double beyond = reach - dim.in;
    if (beyond > 1024 || beyond * bytes > 0x3fffffff) return false;
    bytes *= dim.in;
  }
  return true;
}

// True if Winograd saves time, by measurement: its filter is 1.8 times as large, which matters when
// few results read it, and its transforms before and after the products matter when there are few
// channels.
bool SuitsWinograd(const GrapnelConvSpec& spec) {
  constexpr int64_t kChannels = 64, kPositions = 128;
  bool suits = spec.spatial_rank == 2 && spec.groups == 1 && spec.in_channels >= kChannels &&
               spec.out_channels >= kChannels &&
               spec.batch * spec.out[0] * spec.out[1] >= kPositions;
  for (int i = 0; i < 2; ++i)
    suits &= spec.kernel[i] == 3 && spec.stride[i] == 1 && spec.dilation[i] == 1;
  return suits;
}

bool IsWinograd(const OnednnPrimitive& primitive) {
  return primitive.implementation().contains("wino");
}

template <typename T>
class ConvKernel {
 public:
  using Compute = ComputeType<T>;

  ConvKernel(const KernelSetup& setup, WindowAttrs attrs, FusedOps fused, bool depthwise)
      : attrs_(std::move(attrs)),
        fused_(fused),
        depthwise_(depthwise),
        constant_filter_(setup.constant(1) != nullptr) {
    if (constant_filter_) {
      filter_ = std::make_unique<KeptWeights>(*setup.constant(1));
      PreloadOnednn();
    }
    constant_args_ = true;
    for (int i = 2; i < setup.num_inputs(); ++i) constant_args_ &= setup.constant(i) != nullptr;
  }

  Error operator()(KernelContext& ctx) const {
    ConvShape shape;
    RETURN_IF_ERROR(Resolve(ctx.input(0), ctx.input(1), shape));
    Dims dims = attrs_.OutputDims(shape.batch, shape.window, shape.out_channels);
    if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
    Epilogue<Compute> epilogue;
    llvm::SmallVector<Tensor, 6> storage;
    if constexpr (std::is_floating_point_v<Compute>) {
      ASSIGN_OR_RETURN(epilogue,
                       MakeEpilogue<Compute>(ctx, fused_, shape.out_channels, dims, storage));
    }
    if constexpr (std::is_same_v<T, float>) {
      ASSIGN_OR_RETURN(bool done,
                       RunOnednn(ctx, shape, dims, ctx.input(0), epilogue, storage, nullptr));
      if (done) return Error::success();
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if constexpr (std::is_same_v<T, Compute>) {
      ASSIGN_OR_RETURN(Tensor filter, Filter(ctx));
      return PlainConv(ctx, shape, ctx.input(0).data<T>(), filter.data<T>(), out->data<T>(),
                       epilogue);
    } else {
      ASSIGN_OR_RETURN(Tensor input, Widened(ctx, ctx.input(0)));
      ASSIGN_OR_RETURN(Tensor result, ctx.Scratch(proto::DT_FLOAT, dims));
      if (std::is_same_v<T, Eigen::half> && depthwise_)
        shape.half_steps = ConvShape::HalfSteps::kDepthwise;
      else if (std::is_same_v<T, Eigen::half> && attrs_.rank() == 5 && shape.groups == 1)
        shape.half_steps = ConvShape::HalfSteps::kVolume;
      bool done = false;
      if (shape.half_steps == ConvShape::HalfSteps::kNone) {
        ASSIGN_OR_RETURN(done, RunOnednn(ctx, shape, dims, input, epilogue, storage, &result));
      }
      if (!done) {
        ASSIGN_OR_RETURN(Tensor filter, FloatFilter(ctx));
        RETURN_IF_ERROR(PlainConv(ctx, shape, input.data<float>(), filter.data<float>(),
                                  result.data<float>(), epilogue));
      }
      NarrowInto(ctx, result.data<float>(), *out);
      return Error::success();
    }
  }

 private:
  Error Resolve(const Tensor& input, const Tensor& filter, ConvShape& shape) const {
    int rank = attrs_.rank();
    if (input.rank() != rank || filter.rank() != rank) {
      return MakeError("input and filter must have rank {0}, got shapes {1} and {2}", rank,
                       DimsText(input.dims()), DimsText(filter.dims()));
    }
    shape.channels_first = attrs_.channels_first;
    shape.batch = input.dim(0);
    shape.in_channels = input.dim(attrs_.channel_dim());
    int64_t filter_in = filter.dim(rank - 2), filter_out = filter.dim(rank - 1);
    if (filter.num_elements() == 0)
      return MakeError("a filter of shape {0} has no elements", DimsText(filter.dims()));
    if (depthwise_) {
      if (filter_in != shape.in_channels) {
        return MakeError(
            "a filter of shape {0} is for {1} channels, but the input of shape {2} has {3}",
            DimsText(filter.dims()), filter_in, DimsText(input.dims()), shape.in_channels);
      }
      shape.groups = filter_in;
      shape.out_channels = filter_in * filter_out;
    } else {
      if (shape.in_channels == 0 || shape.in_channels % filter_in != 0 ||
          filter_out % (shape.in_channels / filter_in) != 0) {
        return MakeError(
            "an input of shape {0} does not fit a filter of shape {1}: {2} input channels must be "
            "a positive multiple of {3}, and {4} output channels a multiple of the quotient",
            DimsText(input.dims()), DimsText(filter.dims()), shape.in_channels, filter_in,
            filter_out);
      }
      shape.groups = shape.in_channels / filter_in;
      shape.out_channels = filter_out;
    }
    ASSIGN_OR_RETURN(shape.window,
                     attrs_.Resolve(input.dims(), filter.dims().take_front(rank - 2)));
    return Error::success();
  }

  // Writes to `result`, or to output 0 when it is null. False when oneDNN is unavailable or cannot
  // compute the convolution with this epilogue.
  Expected<bool> RunOnednn(KernelContext& ctx, const ConvShape& shape, const Dims& dims,
                           const Tensor& input, Epilogue<float> epilogue,
                           llvm::SmallVectorImpl<Tensor>& storage, Tensor* result) const {
    if (shape.positions() == 0 || shape.pixels() == 0 || !FitsOnednn(shape) || !Onednn())
      return false;
    GrapnelConvSpec spec = SpecOf(shape);
    spec.parts = PartsFor(shape.flops());
    spec.constant_filter = constant_filter_;
    spec.winograd = ctx.services().winograd && constant_filter_ && SuitsWinograd(spec);
    // Each part has its own workspace, and the workspaces together should fit the caches.
    if (spec.winograd) spec.parts = std::min(spec.parts, 4);
    // A constant batch norm is multiplied into the filter; any other runs as a separate pass
    // afterwards.
    bool fold = epilogue.scale && constant_filter_ && constant_args_;
    bool after = epilogue.scale && !fold;
    if (after && attrs_.channels_first) return false;
    if (!after) {
      spec.epilogue = {epilogue.bias != nullptr, epilogue.add != nullptr, epilogue.activation,
                       epilogue.activation == kGrapnelLeakyRelu ? epilogue.alpha : 0.0f};
    }
    auto prepare = [&](OnednnPrimitive& made) -> Error {
      if (!constant_filter_) return Error::success();
      auto scale = [&](const void* from, float* to) {
        const auto* filter = static_cast<const FloatAnywhere*>(from);
        int64_t count = ctx.input(1).num_elements(), channels = shape.out_channels;
        for (int64_t row = 0; row < count; row += channels) {
          for (int64_t c = 0; c < channels; ++c) to[row + c] = filter[row + c] * epilogue.scale[c];
        }
      };
      // Winograd's transformed filter cannot be converted back, so pack a copy.
      auto copy = [&](const void* from, float* to) {
        std::memcpy(to, from, ctx.input(1).num_elements() * sizeof(float));
      };
      KeptWeights::Change change;
      if (fold)
        change = scale;
      else if (IsWinograd(made))
        change = copy;
      if constexpr (std::is_same_v<T, float>) {
        return filter_->PackInto(made, ctx, change);
      } else {
        ASSIGN_OR_RETURN(Tensor wide, FloatFilter(ctx));
        return KeptWeights(std::move(wide)).PackInto(made, ctx, change);
      }
    };
    ASSIGN_OR_RETURN(PrimitiveRef primitive, primitives_.Get(spec, prepare));
    if (!primitive) return false;
    if (RunProfiler* profiler = ctx.services().profiler; profiler && IsWinograd(*primitive))
      profiler->OnVariant("Winograd");

    Tensor filter;
    if (!constant_filter_) {
      ASSIGN_OR_RETURN(filter, FloatFilter(ctx));
    }
    float* out = nullptr;
    if (result) {
      out = result->data<float>();
    } else {
      // `storage` shares the addend: once `storage` is cleared, the addend's memory may become the
      // output's. (With an addend there is no batch norm, whose vectors `storage` would also hold.)
      if (epilogue.add) storage.clear();
      ASSIGN_OR_RETURN(Tensor * output,
                       epilogue.add ? ctx.ForwardOrAllocate(3, 0, dims) : ctx.Allocate(0, dims));
      out = output->data<float>();
    }
    if (epilogue.add && epilogue.add != out) {
      ctx.ParallelFor(shape.positions(), shape.out_channels * 0.3, [&](int64_t begin, int64_t end) {
        std::copy(epilogue.add + begin * shape.out_channels,
                  epilogue.add + end * shape.out_channels, out + begin * shape.out_channels);
      });
    }
    RETURN_IF_ERROR(primitive->Run(ctx, input.data<float>(),
                                   constant_filter_ ? nullptr : filter.data<float>(), epilogue.bias,
                                   out));
    if (after) {
      ctx.ParallelFor(shape.positions(), shape.out_channels * 0.5, [&](int64_t begin, int64_t end) {
        epilogue.Apply(out, begin, end, shape.out_channels, 0, shape.out_channels);
      });
    }
    return true;
  }

  // If the filter is constant, the kernel holds its value, and the input tensor may have no memory.
  Expected<Tensor> Filter(KernelContext& ctx) const {
    if (!constant_filter_) return ctx.input(1);
    return filter_->Get(ctx);
  }
  Expected<Tensor> FloatFilter(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor filter, Filter(ctx));
    if (filter.dtype() == proto::DT_FLOAT) return filter;
    return Widened(ctx, filter);
  }

  WindowAttrs attrs_;
  FusedOps fused_;
  bool depthwise_, constant_filter_, constant_args_;
  std::unique_ptr<KeptWeights> filter_;  // set if the filter is constant
  OnednnCache<GrapnelConvSpec> primitives_;
};

Expected<KernelFn> MakeConv(const KernelSetup& setup) {
  llvm::StringRef op = setup.node().op();
  bool depthwise = op.contains("Depthwise"), fused_op = op.front() == '_';
  ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(setup, op.contains("3D") ? 3 : 2));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, attrs.rank()));
  if (attrs.strides[0] != 1 || attrs.strides[attrs.channel_dim()] != 1) {
    return MakeError("strides must be 1 for batch and channels");
  }
  std::string layout = setup.node().GetString("filter_format", "HWIO");
  if (layout != "HWIO") return MakeError("filter_format '{0}' is not HWIO", layout);
  FusedOps fused;
  if (fused_op) {
    ASSIGN_OR_RETURN(fused, ReadFusedOps(setup));
  }
  KernelFn fn;
  ForType(setup.output_type(0), ConvTypes(), [&](auto tag) {
    fn = ConvKernel<typename decltype(tag)::type>(setup, attrs, fused, depthwise);
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("Conv2D", MakeConv, OfTypes("T", DataTypesOf(ConvTypes())), KernelCost::kWide,
                   Keeps(1));
GRAPNEL_CPU_KERNEL("_FusedConv2D", MakeConv, OfTypes("T", DataTypesOf(FloatTypes())),
                   KernelCost::kWide, Keeps(1));
GRAPNEL_CPU_KERNEL("Conv3D", MakeConv, OfTypes("T", DataTypesOf(FloatTypes())), KernelCost::kWide);
GRAPNEL_CPU_KERNEL("_FusedConv3D", MakeConv, OfTypes("T", DataTypesOf(FloatTypes())),
                   KernelCost::kWide, Keeps(1));
GRAPNEL_CPU_KERNEL("DepthwiseConv2dNative", MakeConv, OfTypes("T", DataTypesOf(FloatTypes())),
                   KernelCost::kWide, Keeps(1));
GRAPNEL_CPU_KERNEL("_FusedDepthwiseConv2dNative", MakeConv, OfTypes("T", DataTypesOf(FloatTypes())),
                   KernelCost::kWide, Keeps(1));

}  // namespace
}  // namespace grapnel
