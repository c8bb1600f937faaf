// The gradient of a max pool's gradient (MaxPoolGradGrad): for each window, the value of `grad` at
// the position of the window's maximum, the first of equal ones. A window in which no element
// equals the given maximum, for example because that is NaN, gets 0.
#include "kernels/common/dispatch.h"
#include "kernels/common/pooling.h"

namespace grapnel {
namespace {

// Returns the first pixel in the window of output (d, h, x) that equals `top` in channel `c`, or
// -1.
template <typename T>
int64_t PlaceOf(const Window& w, int64_t d, int64_t h, int64_t x, const T* image, int64_t channels,
                int64_t c, T top) {
  auto [d0, d1] = w[0].Taps(d);
  auto [h0, h1] = w[1].Taps(h);
  auto [x0, x1] = w[2].Taps(x);
  for (int64_t kd = d0; kd < d1; ++kd) {
    int64_t plane = d * w[0].stride - w[0].before + kd;
    for (int64_t kh = h0; kh < h1; ++kh) {
      int64_t row = plane * w[1].in + h * w[1].stride - w[1].before + kh;
      for (int64_t kx = x0; kx < x1; ++kx) {
        int64_t pixel = row * w[2].in + x * w[2].stride - w[2].before + kx;
        if (image[pixel * channels + c] == top) return pixel;
      }
    }
  }
  return -1;
}

template <typename T>
Error SecondGradient(KernelContext& ctx, const PoolAttrs& attrs) {
  const Tensor &input = ctx.input(0), &output = ctx.input(1), &gradient = ctx.input(2);
  ASSIGN_OR_RETURN(Window w, attrs.Resolve(input.dims()));
  int64_t batch = input.dim(0), channels = input.dim(attrs.window.channel_dim());
  Dims dims = attrs.window.OutputDims(batch, w, channels);
  if (output.dims() != llvm::ArrayRef<int64_t>(dims))
    return MakeError("the pool's output is of shape {0}, {1} was expected", DimsText(output.dims()),
                     DimsText(dims));
  if (gradient.dims() != input.dims())
    return MakeError("the gradient is of shape {0}, {1} was expected", DimsText(gradient.dims()),
                     DimsText(input.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t image = input.num_elements() / batch, positions = w[0].out * w[1].out * w[2].out;
  double cost = 2.0 * channels * w[0].kernel * w[1].kernel * w[2].kernel;
  ctx.ParallelFor(batch * positions, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* in = input.data<T>() + i / positions * image;
      const T* from = gradient.data<T>() + i / positions * image;
      int64_t p = i % positions, x = p % w[2].out, h = p / w[2].out % w[1].out;
      int64_t d = p / w[2].out / w[1].out;
      for (int64_t c = 0; c < channels; ++c) {
        T top = output.data<T>()[i * channels + c];
        int64_t pixel = PlaceOf(w, d, h, x, in, channels, c, top);
        out->data<T>()[i * channels + c] = pixel < 0 ? T(0) : from[pixel * channels + c];
      }
    }
  });
  return Error::success();
}

template <typename Types>
Expected<KernelFn> MakeSecondGradient(const KernelSetup& setup) {
  PoolAttrs attrs;
  llvm::StringRef op = setup.node().op();
  ASSIGN_OR_RETURN(attrs.window, ReadWindowAttrs(setup, op.contains("3D") ? 3 : 2));
  if (attrs.window.channels_first)
    return MakeError("data_format {0}: the channels must come last",
                     setup.node().GetString("data_format"));
  attrs.sizes = setup.node().GetInts("ksize");
  // Unlike MaxPool, TensorFlow's second gradient cannot pool over channels.
  bool sizes_are_inputs = op == "MaxPoolGradGradV2";
  if (!sizes_are_inputs) RETURN_IF_ERROR(CheckPool(attrs, /*is_max=*/false));
  KernelFn fn;
  ForType(setup.output_type(0), Types(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs, sizes_are_inputs](KernelContext& ctx) -> Error {
      PoolAttrs given = attrs;
      if (sizes_are_inputs) RETURN_IF_ERROR(ReadPoolInputs(ctx, 3, /*is_max=*/false, given));
      return SecondGradient<T>(ctx, given);
    };
    return true;
  });
  return fn;
}

using Types2d = TypeList<float, double, Eigen::half, Eigen::bfloat16, int32_t, int64_t, int8_t,
                         int16_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using Types3d = TypeList<float, Eigen::bfloat16>;
GRAPNEL_CPU_KERNEL("MaxPoolGradGrad", MakeSecondGradient<Types2d>,
                   OfTypes("T", DataTypesOf(Types2d())));
GRAPNEL_CPU_KERNEL("MaxPoolGradGradV2", MakeSecondGradient<Types2d>,
                   OfTypes("T", DataTypesOf(Types2d())));
GRAPNEL_CPU_KERNEL("MaxPool3DGradGrad", MakeSecondGradient<Types3d>,
                   OfTypes("T", DataTypesOf(Types3d())));

}  // namespace
}  // namespace grapnel
