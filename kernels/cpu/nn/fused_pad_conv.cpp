// FusedPadConv2D and FusedResizeAndPadConv2D: a convolution of an image that is first padded with
// mirrored margins and, in the second op, resized (bilinear) before that.
//
// TensorFlow 2.21 gives each image of a batch the result of the first one, because its cache of
// resized rows ignores the image number. Here each image gets its own result.
#include <algorithm>
#include <vector>

#include "kernels/cpu/image/resize.h"
#include "kernels/cpu/nn/plain_conv.h"

namespace grapnel {
namespace {

using PadConvTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16>;
using Places = std::vector<ResizeBetween>;

// Returns the source positions of the rows, or columns, of the padded image. REFLECT (skip 1) omits
// the border element, SYMMETRIC (skip 0) repeats it.
Places WithMargins(const Places& inner, int64_t before, int64_t after, int64_t skip) {
  int64_t n = static_cast<int64_t>(inner.size());
  Places all;
  for (int64_t i = -before; i < n + after; ++i) {
    int64_t from = i;
    if (i < 0) from = -i - 1 + skip;
    if (i >= n) from = 2 * n - 1 - i - skip;
    all.push_back(inner[from]);
  }
  return all;
}

Expected<Places> PlacesOf(const Tensor& paddings, int dim, const Places& inner, int64_t skip) {
  int64_t before = paddings.IntAt(2 * dim), after = paddings.IntAt(2 * dim + 1);
  int64_t most = static_cast<int64_t>(inner.size()) - skip;
  if (before < 0 || after < 0 || std::max(before, after) > most)
    return MakeError("paddings {0} and {1} of dimension {2} must be between 0 and {3}", before,
                     after, dim, most);
  return WithMargins(inner, before, after, skip);
}

Error CheckPaddings(const Tensor& paddings) {
  if (paddings.rank() != 2 || paddings.dim(0) != 4 || paddings.dim(1) != 2)
    return MakeError("paddings must be a matrix of shape [4,2], got shape {0}",
                     DimsText(paddings.dims()));
  for (int i : {0, 1, 6, 7}) {
    if (paddings.IntAt(i) != 0)
      return MakeError("only height and width can be padded, got padding {0} for dimension {1}",
                       paddings.IntAt(i), i / 2);
  }
  return Error::success();
}

Places AsTheyAre(int64_t n) {
  Places places;
  for (int64_t i = 0; i < n; ++i) places.push_back({i, i, 0});
  return places;
}

struct Image {
  int64_t height, width, channels;
};

// Computes one row of the padded image from two rows of the input.
template <typename T, typename Compute>
void Mix(const T* top, const T* bottom, float weight, const Places& columns, int64_t channels,
         Compute* to) {
  for (const ResizeBetween& x : columns) {
    for (int64_t c = 0; c < channels; ++c) {
      auto at = [&](const T* row, int64_t column) {
        return static_cast<Compute>(row[column * channels + c]);
      };
      Compute upper = at(top, x.lower), lower = at(bottom, x.lower);
      // A weight of 0 leaves a pixel unchanged, even next to an infinite one.
      if (x.weight != 0) {
        upper += (at(top, x.upper) - upper) * x.weight;
        lower += (at(bottom, x.upper) - lower) * x.weight;
      }
      *to++ = weight == 0 ? upper : upper + (lower - upper) * weight;
    }
  }
}

template <typename T, typename Compute>
void Lay(KernelContext& ctx, const Tensor& input, const Places& rows, const Places& columns,
         Compute* out) {
  Image image{input.dim(1), input.dim(2), input.dim(3)};
  int64_t height = static_cast<int64_t>(rows.size());
  int64_t stride = image.width * image.channels;
  int64_t line = static_cast<int64_t>(columns.size()) * image.channels;
  ctx.ParallelFor(input.dim(0) * height, 4.0 * line, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ResizeBetween& y = rows[i % height];
      const T* from = input.data<T>() + i / height * image.height * stride;
      Mix(from + y.lower * stride, from + y.upper * stride, y.weight, columns, image.channels,
          out + i * line);
    }
  });
}

// Sets where the first window starts, as TensorFlow's kernel does: windows are centered on the
// image, even where a large stride skips more pixels than a window has.
void Center(WindowDim& dim, Padding padding) {
  int64_t covered = (dim.out - 1) * dim.stride + dim.kernel;
  if (covered < dim.in) dim.before = (covered - dim.in + (padding == Padding::kValid)) / 2;
}

class PadConv {
 public:
  PadConv(const KernelSetup& setup, WindowAttrs attrs, int64_t skip)
      : attrs_(std::move(attrs)),
        align_corners_(setup.node().GetBool("resize_align_corners")),
        resizes_(setup.num_inputs() == 4),
        skip_(skip) {}

  template <typename T>
  Error Run(KernelContext& ctx) const {
    using Compute = ComputeType<T>;
    const Tensor &input = ctx.input(0), &filter = ctx.input(resizes_ ? 3 : 2);
    Places rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, input, filter, &rows, &columns));
    ConvShape shape;
    shape.batch = input.dim(0);
    shape.in_channels = input.dim(3);
    shape.out_channels = filter.dim(3);
    Dims padded = {input.dim(0), static_cast<int64_t>(rows.size()),
                   static_cast<int64_t>(columns.size()), input.dim(3)};
    ASSIGN_OR_RETURN(shape.window, attrs_.Resolve(padded, filter.dims().take_front(2)));
    for (WindowDim& dim : shape.window) Center(dim, attrs_.padding);
    Dims dims = attrs_.OutputDims(shape.batch, shape.window, shape.out_channels);
    ASSIGN_OR_RETURN(Tensor laid, ctx.Scratch(DataTypeOf<Compute>(), padded));
    Lay<T>(ctx, input, rows, columns, laid.data<Compute>());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if constexpr (std::is_same_v<T, Compute>) {
      return PlainConv(ctx, shape, laid.data<T>(), filter.data<T>(), out->data<T>(), Epilogue<T>());
    } else {
      ASSIGN_OR_RETURN(Tensor weights, Widened(ctx, filter));
      ASSIGN_OR_RETURN(Tensor result, ctx.Scratch(proto::DT_FLOAT, dims));
      RETURN_IF_ERROR(PlainConv(ctx, shape, laid.data<float>(), weights.data<float>(),
                                result.data<float>(), Epilogue<float>()));
      NarrowInto(ctx, result.data<float>(), *out);
      return Error::success();
    }
  }

 private:
  Error Prepare(const KernelContext& ctx, const Tensor& input, const Tensor& filter, Places* rows,
                Places* columns) const {
    if (input.rank() != 4 || filter.rank() != 4 || filter.num_elements() == 0 ||
        input.dim(3) != filter.dim(2))
      return MakeError(
          "an input of shape {0} does not fit a filter of shape {1}: both must have rank 4 and the "
          "same number of input channels, and the filter must not be empty",
          DimsText(input.dims()), DimsText(filter.dims()));
    const Tensor& paddings = ctx.input(resizes_ ? 2 : 1);
    RETURN_IF_ERROR(CheckPaddings(paddings));
    if (resizes_) {
      RETURN_IF_ERROR(Resize(input, ctx.input(1), rows, columns));
    } else {
      *rows = AsTheyAre(input.dim(1));
      *columns = AsTheyAre(input.dim(2));
    }
    ASSIGN_OR_RETURN(*rows, PlacesOf(paddings, 1, *rows, skip_));
    ASSIGN_OR_RETURN(*columns, PlacesOf(paddings, 2, *columns, skip_));
    return Error::success();
  }

  Error Resize(const Tensor& input, const Tensor& size, Places* rows, Places* columns) const {
    if (size.num_elements() != 2)
      return MakeError("size must be two numbers, got shape {0}", DimsText(size.dims()));
    int64_t height = size.IntAt(0), width = size.IntAt(1);
    if (height <= 0 || width <= 0 || input.dim(1) == 0 || input.dim(2) == 0)
      return MakeError("cannot resize an image of {0} x {1} to {2} x {3}: all must be positive",
                       input.dim(1), input.dim(2), height, width);
    *rows = BilinearPositions({input.dim(1), height, align_corners_, false});
    *columns = BilinearPositions({input.dim(2), width, align_corners_, false});
    return Error::success();
  }

  WindowAttrs attrs_;
  bool align_corners_, resizes_;
  int64_t skip_;
};

Expected<KernelFn> MakePadConv(const KernelSetup& setup) {
  std::string mode = setup.node().GetString("mode");
  if (mode != "REFLECT" && mode != "SYMMETRIC")
    return MakeError("mode must be REFLECT or SYMMETRIC, got '{0}'", mode);
  ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(setup, 2));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, attrs.rank()));
  if (attrs.strides[0] != 1 || attrs.strides[3] != 1)
    return MakeError("strides must be 1 for batch and channels");
  PadConv kernel(setup, std::move(attrs), mode == "REFLECT" ? 1 : 0);
  KernelFn fn;
  ForType(setup.output_type(0), PadConvTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [kernel](KernelContext& ctx) { return kernel.Run<T>(ctx); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("FusedPadConv2D", MakePadConv, OfTypes("T", DataTypesOf(PadConvTypes())),
                   NotEmpty(0), KernelCost::kWide);
GRAPNEL_CPU_KERNEL("FusedResizeAndPadConv2D", MakePadConv,
                   OfTypes("T", DataTypesOf(TypeList<float, double, Eigen::half>())), NotEmpty(0),
                   KernelCost::kWide);

}  // namespace
}  // namespace grapnel
