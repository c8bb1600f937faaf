// Conv2DBackpropInput, Conv2DBackpropFilter and related ops: the gradients of Conv2D, Conv3D and
// DepthwiseConv2dNative; the first is also a transposed convolution.
#include <algorithm>

#include "kernels/common/dims.h"
#include "kernels/cpu/nn/plain_conv_gradient.h"

namespace grapnel {
namespace {

enum class Wanted { kInput, kFilter };

struct GradientAttrs {
  WindowAttrs window;
  Wanted wanted = Wanted::kInput;
  bool depthwise = false;
  bool from_tensor = false;  // sizes are the shape of an input, not its elements
};

// Returns the shape of the result, from the input that specifies it.
Expected<Dims> WantedDims(KernelContext& ctx, const GradientAttrs& attrs) {
  int at = attrs.wanted == Wanted::kInput ? 0 : 1, rank = attrs.window.rank();
  const Tensor& sizes = ctx.input(at);
  if (attrs.from_tensor) return Dims(sizes.dims().begin(), sizes.dims().end());
  const char* name = at == 0 ? "input_sizes" : "filter_sizes";
  if (sizes.rank() != 1)
    return MakeError("{0} must be a vector, got shape {1}", name, DimsText(sizes.dims()));
  Dims dims = IntsOf(sizes);
  // For the input gradient of a 2-D convolution, spatial sizes are enough.
  if (at == 0 && rank == 4 && dims.size() == 2) {
    const Tensor &filter = ctx.input(1), &gradient = ctx.input(2);
    if (filter.rank() == rank && gradient.rank() == rank) {
      dims.insert(attrs.window.channels_first ? dims.begin() : dims.end(), filter.dim(2));
      dims.insert(dims.begin(), gradient.dim(0));
    }
  }
  // A batch of -1 means the gradient's batch, as in TensorFlow's oneDNN kernels.
  bool any_batch = at == 0 && !dims.empty() && dims[0] == -1;
  if (any_batch && ctx.input(2).rank() == rank) dims[0] = ctx.input(2).dim(0);
  if (static_cast<int>(dims.size()) != rank)
    return MakeError("{0} must have {1} numbers{2}, not {3}", name, rank,
                     at == 0 && rank == 4 ? ", or 2 next to a filter and a gradient of rank 4" : "",
                     dims.size());
  for (int64_t dim : dims) {
    if (dim < 0)
      return MakeError("{0} must not be negative{1}, got {2}", name,
                       at == 0 ? " (a batch of -1 stands for the gradient's)" : "", IntsText(dims));
  }
  if (!NumElements(dims)) return MakeError("a tensor of shape {0} is too large", DimsText(dims));
  return dims;
}

Expected<ConvShape> ResolveGradient(const GradientAttrs& attrs, llvm::ArrayRef<int64_t> input,
                                    llvm::ArrayRef<int64_t> filter,
                                    llvm::ArrayRef<int64_t> gradient) {
  const WindowAttrs& window = attrs.window;
  int rank = window.rank();
  for (llvm::ArrayRef<int64_t> dims : {input, filter, gradient}) {
    if (static_cast<int>(dims.size()) != rank)
      return MakeError("input, filter and gradient must have rank {0}, not {1}, {2} and {3}", rank,
                       input.size(), filter.size(), gradient.size());
  }
  ConvShape shape;
  shape.channels_first = window.channels_first;
  shape.batch = input[0];
  shape.in_channels = input[window.channel_dim()];
  int64_t filter_in = filter[rank - 2], filter_out = filter[rank - 1];
  bool fits = filter_in > 0 && shape.in_channels % filter_in == 0;
  if (attrs.depthwise) {
    fits = filter_in == shape.in_channels;
    shape.groups = filter_in;
    shape.out_channels = filter_in * filter_out;
  } else if (fits) {
    shape.groups = std::max<int64_t>(1, shape.in_channels / filter_in);
    shape.out_channels = filter_out;
    fits = filter_out % shape.groups == 0;
  }
  if (!fits)
    return MakeError(
        "an input of shape {0} does not fit a filter of shape {1}: {2} input channels must {3} "
        "{4}{5}",
        DimsText(input), DimsText(filter), shape.in_channels,
        attrs.depthwise ? "be" : "be a multiple of", filter_in,
        attrs.depthwise ? "" : ", and the output channels a multiple of the quotient");
  ASSIGN_OR_RETURN(shape.window, window.Resolve(input, filter.take_front(rank - 2)));
  Dims expected = window.OutputDims(shape.batch, shape.window, shape.out_channels);
  if (gradient != llvm::ArrayRef<int64_t>(expected))
    return MakeError("the gradient must have shape {0}, not {1}", DimsText(expected),
                     DimsText(gradient));
  return shape;
}

template <typename T>
Error Gradient(KernelContext& ctx, const GradientAttrs& attrs, const ConvShape& shape,
               const T* other, const T* gradient, T* out) {
  if (attrs.wanted == Wanted::kInput) return ConvInputGradient<T>(ctx, shape, other, gradient, out);
  if constexpr (std::is_floating_point_v<T>)
    return ConvFilterGradient<T>(ctx, shape, other, gradient, out);
  return MakeError("no gradient for an integer filter");
}

ConvShape::HalfSteps HalfStepsOf(const GradientAttrs& attrs, const ConvShape& shape) {
  if (attrs.depthwise) return ConvShape::HalfSteps::kDepthwise;
  if (shape.groups > 1) return ConvShape::HalfSteps::kNone;  // TensorFlow has no such CPU kernel
  return attrs.window.rank() == 5 ? ConvShape::HalfSteps::kVolume : ConvShape::HalfSteps::kImage;
}

template <typename T>
Error Run(KernelContext& ctx, const GradientAttrs& attrs) {
  ASSIGN_OR_RETURN(Dims dims, WantedDims(ctx, attrs));
  bool input_wanted = attrs.wanted == Wanted::kInput;
  const Tensor &other = ctx.input(input_wanted ? 1 : 0), &gradient = ctx.input(2);
  ASSIGN_OR_RETURN(
      ConvShape shape,
      ResolveGradient(attrs, input_wanted ? llvm::ArrayRef<int64_t>(dims) : other.dims(),
                      input_wanted ? other.dims() : llvm::ArrayRef<int64_t>(dims),
                      gradient.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  // The result may have elements even if an operand has none (a filter's channels for an input
  // without channels); they are 0.
  if (other.num_elements() == 0 || gradient.num_elements() == 0) {
    std::fill_n(out->data<T>(), out->num_elements(), T(0));
    return Error::success();
  }
  if constexpr (kIsSmallFloat<T>) {
    if (std::is_same_v<T, Eigen::half>) shape.half_steps = HalfStepsOf(attrs, shape);
    ASSIGN_OR_RETURN(Tensor wide_other, Widened(ctx, other));
    ASSIGN_OR_RETURN(Tensor wide_gradient, Widened(ctx, gradient));
    ASSIGN_OR_RETURN(Tensor wide_out, ctx.Scratch(proto::DT_FLOAT, dims));
    RETURN_IF_ERROR(Gradient(ctx, attrs, shape, wide_other.data<float>(),
                             wide_gradient.data<float>(), wide_out.data<float>()));
    NarrowInto(ctx, wide_out.data<float>(), *out);
    return Error::success();
  } else {
    return Gradient(ctx, attrs, shape, other.data<T>(), gradient.data<T>(), out->data<T>());
  }
}

using InputGradientTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16, int32_t>;

template <Wanted wanted>
Expected<KernelFn> MakeConvGradient(const KernelSetup& setup) {
  llvm::StringRef op = setup.node().op();
  GradientAttrs attrs;
  attrs.wanted = wanted;
  attrs.depthwise = op.contains("Depthwise");
  attrs.from_tensor = op == "Conv2DBackpropInputV2" || op == "Conv2DBackpropFilterV2" ||
                      op == "Conv3DBackpropInput" || op == "Conv3DBackpropFilter";
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, op.contains("3D") ? 3 : 2));
  const WindowAttrs& window = attrs.window;
  RETURN_IF_ERROR(CheckWindowList("strides", window.strides, window.rank()));
  if (window.strides[0] != 1 || window.strides[window.channel_dim()] != 1)
    return MakeError("strides must be 1 for batch and channels");
  KernelFn fn;
  ForType(setup.output_type(0), InputGradientTypes(), [&](auto tag) {
    fn = [attrs](KernelContext& ctx) { return Run<typename decltype(tag)::type>(ctx, attrs); };
    return true;
  });
  return fn;
}

#define GRAPNEL_CONV_GRADIENT(op, types, wanted) \
  GRAPNEL_CPU_KERNEL(op, MakeConvGradient<Wanted::wanted>, OfTypes("T", DataTypesOf(types())))
GRAPNEL_CONV_GRADIENT("Conv2DBackpropInput", InputGradientTypes, kInput);
GRAPNEL_CONV_GRADIENT("Conv2DBackpropInputV2", InputGradientTypes, kInput);
GRAPNEL_CONV_GRADIENT("Conv3DBackpropInput", FloatTypes, kInput);
GRAPNEL_CONV_GRADIENT("Conv3DBackpropInputV2", FloatTypes, kInput);
GRAPNEL_CONV_GRADIENT("DepthwiseConv2dNativeBackpropInput", FloatTypes, kInput);
GRAPNEL_CONV_GRADIENT("Conv2DBackpropFilter", FloatTypes, kFilter);
GRAPNEL_CONV_GRADIENT("Conv2DBackpropFilterV2", FloatTypes, kFilter);
GRAPNEL_CONV_GRADIENT("Conv3DBackpropFilter", FloatTypes, kFilter);
GRAPNEL_CONV_GRADIENT("Conv3DBackpropFilterV2", FloatTypes, kFilter);
GRAPNEL_CONV_GRADIENT("DepthwiseConv2dNativeBackpropFilter", FloatTypes, kFilter);

}  // namespace
}  // namespace grapnel
