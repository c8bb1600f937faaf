// ResizeBilinearGrad, ResizeBicubicGrad and ResizeNearestNeighborGrad: adds each pixel of the
// gradient to the input pixels that it was interpolated from.
#include "kernels/common/epilogue.h"
#include "kernels/common/rounded_half.h"
#include "kernels/cpu/image/resize.h"
#include "kernels/cpu/image/resize_cubic.h"

namespace grapnel {
namespace {

// Up to four pixels on one axis and their weights.
struct Taps {
  int count = 0;
  int64_t index[4];
  float weight[4];
};

enum class Method { kBilinear, kBicubic, kNearest };

std::vector<Taps> TapsOf(Method method, const ResizeAxis& axis) {
  std::vector<Taps> taps(axis.out);
  if (method == Method::kNearest) {
    for (int64_t i = 0; i < axis.out; ++i) taps[i] = {1, {axis.Nearest(i)}, {1}};
  } else if (method == Method::kBilinear) {
    std::vector<ResizeBetween> positions = BilinearPositions(axis);
    for (int64_t i = 0; i < axis.out; ++i) {
      const ResizeBetween& at = positions[i];
      taps[i] = {2, {at.lower, at.upper}, {1 - at.weight, at.weight}};
    }
  } else {
    std::vector<CubicTap> positions = CubicPositions(axis);
    for (int64_t i = 0; i < axis.out; ++i) {
      taps[i].count = 4;
      std::copy_n(positions[i].index, 4, taps[i].index);
      std::copy_n(positions[i].weight, 4, taps[i].weight);
    }
  }
  return taps;
}

// G is the dtype of the gradient: float, or T for the nearest neighbor.
template <typename T, typename G>
Error Scatter(KernelContext& ctx, Method method, const ResizeAxis& rows,
              const ResizeAxis& columns) {
  const Tensor& grads = ctx.input(0);
  int64_t batch = grads.dim(0), channels = grads.dim(3);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {batch, rows.in, columns.in, channels}));
  if (out->num_elements() == 0) return Error::success();
  using Compute = ComputeType<T>;
  std::vector<Taps> ys = TapsOf(method, rows), xs = TapsOf(method, columns);
  int64_t image = rows.in * columns.in * channels;
  ctx.ParallelFor(batch, 6.0 * grads.num_elements() / batch, [&](int64_t begin, int64_t end) {
    std::vector<Compute> wide(kIsSmallFloat<T> ? image : 0);
    for (int64_t b = begin; b < end; ++b) {
      T* result = out->data<T>() + b * image;
      Compute* to = wide.data();
      if constexpr (!kIsSmallFloat<T>) to = result;
      std::fill_n(to, image, Compute(0));
      const G* from = grads.data<G>() + b * rows.out * columns.out * channels;
      for (const Taps& y : ys) {
        for (const Taps& x : xs) {
          for (int i = 0; i < y.count; ++i) {
            for (int j = 0; j < x.count; ++j) {
              Compute of_row = static_cast<Compute>(y.weight[i]);
              Compute of_column = static_cast<Compute>(x.weight[j]);
              Compute* pixel = to + (y.index[i] * columns.in + x.index[j]) * channels;
              for (int64_t c = 0; c < channels; ++c) {
                pixel[c] =
                    AddOf(pixel[c], MulOf(MulOf(static_cast<Compute>(from[c]), of_row), of_column));
                // TensorFlow accumulates nearest-neighbor gradients in the gradient's own type, and
                // other gradients with 16-bit results in float.
                if constexpr (kIsSmallFloat<T> && kIsSmallFloat<G>)
                  pixel[c] = RoundedTo<T>(pixel[c]);
              }
            }
          }
          from += channels;
        }
      }
      if constexpr (kIsSmallFloat<T>) Narrow(to, result, image);
    }
  });
  return Error::success();
}

Error CheckGrads(const Tensor& grads) {
  if (grads.rank() == 4) return Error::success();
  return MakeError("grads must be [batch, height, width, channels], got shape {0}",
                   DimsText(grads.dims()));
}

template <typename T, Method method>
Error Gradient(KernelContext& ctx, const ResizeAttrs& attrs) {
  const Tensor &grads = ctx.input(0), &other = ctx.input(1);
  RETURN_IF_ERROR(CheckGrads(grads));
  Dims image(grads.dims().begin(), grads.dims().end());
  if constexpr (method == Method::kNearest) {
    if (other.num_elements() != 2)
      return MakeError("size must be two numbers, got shape {0}", DimsText(other.dims()));
    image[1] = other.IntAt(0);
    image[2] = other.IntAt(1);
  } else {
    image.assign(other.dims().begin(), other.dims().end());
    if (image.size() != 4 || image[0] != grads.dim(0) || image[3] != grads.dim(3))
      return MakeError(
          "original_image must have rank 4 and the batch and channels of grads, whose shape is "
          "{0}, got shape {1}",
          DimsText(grads.dims()), DimsText(image));
  }
  ResizeAxis rows, columns;
  if (method == Method::kNearest && grads.num_elements() == 0 && image[1] > 0 && image[2] > 0) {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, image));
    std::fill_n(out->data<T>(), out->num_elements(), T(0));
    return Error::success();
  }
  RETURN_IF_ERROR(attrs.Axes(image, grads.dim(1), grads.dim(2), &rows, &columns));
  if constexpr (method == Method::kNearest)
    return Scatter<T, T>(ctx, method, rows, columns);
  else
    return Scatter<T, float>(ctx, method, rows, columns);
}

template <Method method, typename Types>
Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  ResizeAttrs attrs(setup);
  KernelFn fn;
  ForType(setup.output_type(0), Types(), [&](auto tag) {
    fn = [attrs](KernelContext& ctx) {
      return Gradient<typename decltype(tag)::type, method>(ctx, attrs);
    };
    return true;
  });
  return fn;
}

using CubicTypes = TypeList<float, double>;
GRAPNEL_CPU_KERNEL("ResizeBilinearGrad", (MakeGradient<Method::kBilinear, FloatTypes>),
                   OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("ResizeBicubicGrad", (MakeGradient<Method::kBicubic, CubicTypes>),
                   OfTypes("T", DataTypesOf(CubicTypes())));
GRAPNEL_CPU_KERNEL("ResizeNearestNeighborGrad", (MakeGradient<Method::kNearest, RealTypes>),
                   OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
