// ResizeBilinear and ResizeNearestNeighbor on [batch, height, width, channels], with TensorFlow's
// three pixel conventions: by corners, by centers (half_pixel_centers), or with corners mapped onto
// corners (align_corners).
#include "kernels/cpu/image/resize.h"

#include "kernels/common/dispatch.h"

namespace grapnel {

std::vector<ResizeBetween> BilinearPositions(const ResizeAxis& axis) {
  std::vector<ResizeBetween> positions(axis.out);
  for (int64_t i = 0; i < axis.out; ++i) {
    float at = axis.Source(i), floor = std::floor(at);
    positions[i].lower = std::max<int64_t>(static_cast<int64_t>(floor), 0);
    positions[i].upper = std::min<int64_t>(static_cast<int64_t>(std::ceil(at)), axis.in - 1);
    positions[i].lower = std::min(positions[i].lower, axis.in - 1);
    positions[i].weight = at - floor;
  }
  return positions;
}

Error ResizeAttrs::Axes(llvm::ArrayRef<int64_t> from, int64_t height, int64_t width,
                        ResizeAxis* rows, ResizeAxis* columns) const {
  if (from.size() != 4)
    return MakeError("images must be [batch, height, width, channels], got shape {0}",
                     DimsText(from));
  *rows = {from[1], height, align_corners_, half_pixel_centers_};
  *columns = {from[2], width, align_corners_, half_pixel_centers_};
  if (rows->out <= 0 || columns->out <= 0)
    return MakeError("the height and width of the resized image must be positive, got {0} x {1}",
                     rows->out, columns->out);
  if (rows->in <= 0 || columns->in <= 0)
    return MakeError(
        "an image of size {0} x {1} cannot be resized: height and width must be at least 1",
        rows->in, columns->in);
  if (align_corners_ && half_pixel_centers_)
    return MakeError("align_corners and half_pixel_centers exclude each other");
  return Error::success();
}

Error ResizeAttrs::Prepare(const KernelContext& ctx, ResizeAxis* rows, ResizeAxis* columns) const {
  const Tensor& size = ctx.input(1);
  if (size.num_elements() != 2)
    return MakeError("size must be two numbers, got shape {0}", DimsText(size.dims()));
  llvm::ArrayRef<int64_t> images = ctx.input(0).dims();
  if (images.size() == 4 && images[3] < 1)
    return MakeError("an image without channels cannot be resized");
  return Axes(images, size.IntAt(0), size.IntAt(1), rows, columns);
}

namespace {

template <typename T>
class Bilinear : public ResizeAttrs {
 public:
  using ResizeAttrs::ResizeAttrs;
  Error operator()(KernelContext& ctx) const {
    ResizeAxis rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, &rows, &columns));
    const Tensor& images = ctx.input(0);
    int64_t channels = images.dim(3);
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {images.dim(0), rows.out, columns.out, channels}));
    std::vector<ResizeBetween> ys = BilinearPositions(rows), xs = BilinearPositions(columns);
    const T* in = images.data<T>();
    float* result = out->data<float>();
    ctx.ParallelFor(images.dim(0) * rows.out, 4.0 * columns.out * channels,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t row = begin; row < end; ++row) {
                        const ResizeBetween& y = ys[row % rows.out];
                        const T* image = in + row / rows.out * rows.in * columns.in * channels;
                        const T *top = image + y.lower * columns.in * channels,
                                *bottom = image + y.upper * columns.in * channels;
                        float* to = result + row * columns.out * channels;
                        for (const ResizeBetween& x : xs) {
                          for (int64_t c = 0; c < channels; ++c) {
                            float top_left = static_cast<float>(top[x.lower * channels + c]),
                                  top_right = static_cast<float>(top[x.upper * channels + c]);
                            float low_left = static_cast<float>(bottom[x.lower * channels + c]),
                                  low_right = static_cast<float>(bottom[x.upper * channels + c]);
                            float upper = top_left + (top_right - top_left) * x.weight,
                                  lower = low_left + (low_right - low_left) * x.weight;
                            *to++ = upper + (lower - upper) * y.weight;
                          }
                        }
                      }
                    });
    return Error::success();
  }
};

template <typename T>
class Nearest : public ResizeAttrs {
 public:
  using ResizeAttrs::ResizeAttrs;
  Error operator()(KernelContext& ctx) const {
    ResizeAxis rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, &rows, &columns));
    const Tensor& images = ctx.input(0);
    int64_t channels = images.dim(3);
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {images.dim(0), rows.out, columns.out, channels}));
    const T* in = images.data<T>();
    T* to = out->data<T>();
    for (int64_t batch = 0; batch < images.dim(0); ++batch) {
      for (int64_t y = 0; y < rows.out; ++y) {
        const T* from = in + (batch * rows.in + rows.Nearest(y)) * columns.in * channels;
        for (int64_t x = 0; x < columns.out; ++x, to += channels)
          std::copy_n(from + columns.Nearest(x) * channels, channels, to);
      }
    }
    return Error::success();
  }
};

template <template <typename> class Kernel>
Expected<KernelFn> Make(const KernelSetup& setup) {
  KernelFn fn;
  bool known = ForType(setup.input_type(0), RealTypes(), [&](auto tag) {
    fn = Kernel<typename decltype(tag)::type>(setup);
    return true;
  });
  if (!known)
    return MakeError("cannot resize images of dtype {0}", DataTypeName(setup.input_type(0)));
  return fn;
}

GRAPNEL_CPU_KERNEL("ResizeBilinear", Make<Bilinear>, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("ResizeNearestNeighbor", Make<Nearest>, OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
