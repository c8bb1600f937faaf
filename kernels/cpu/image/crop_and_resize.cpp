// CropAndResize and its gradients: crops boxes, given as fractions of the image's height and width,
// and scales them to one size.
#include <cmath>

#include "kernels/common/epilogue.h"
#include "kernels/common/rounded_half.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

struct CropAttrs {
  bool nearest = false;
  float extrapolation = 0;
};

// The two pixels around a source coordinate, and the weight of the upper one.
struct Between {
  int64_t lower, upper;
  float weight;
};

// One axis of a box: maps crop element `i` to a coordinate in the image.
struct Side {
  int64_t in, out;
  float begin, end;

  float At(int64_t i) const {
    float last = static_cast<float>(in - 1);
    if (out == 1) return 0.5f * (begin + end) * last;
    float step = (end - begin) * last / static_cast<float>(out - 1);
    return begin * last + static_cast<float>(i) * step;
  }
  bool Covers(float at) const { return at >= 0 && at <= static_cast<float>(in - 1); }
  static Between Around(float at) {
    float lower = std::floor(at);
    return {static_cast<int64_t>(lower), static_cast<int64_t>(std::ceil(at)), at - lower};
  }
};

Error CheckBoxes(const Tensor& boxes, const Tensor& box_index, int64_t batch) {
  if (boxes.rank() != 2 || boxes.dim(1) != 4)
    return MakeError("boxes must be [boxes, 4], got shape {0}", DimsText(boxes.dims()));
  if (box_index.rank() != 1 || box_index.dim(0) != boxes.dim(0))
    return MakeError("box_ind must be a vector of {0} elements, got shape {1}", boxes.dim(0),
                     DimsText(box_index.dims()));
  for (int64_t i = 0; i < box_index.dim(0); ++i) {
    if (box_index.IntAt(i) < 0 || box_index.IntAt(i) >= batch)
      return MakeError("box_ind[{0}] = {1} is not in [0, {2})", i, box_index.IntAt(i), batch);
  }
  for (int64_t i = 0; i < boxes.num_elements(); ++i) {
    if (!std::isfinite(boxes.data<float>()[i]))
      return MakeError("box {0} has a number that is not finite", i / 4);
  }
  return Error::success();
}

Error CheckImage(llvm::ArrayRef<int64_t> dims) {
  if (dims.size() != 4)
    return MakeError("images must be [batch, height, width, channels], got shape {0}",
                     DimsText(dims));
  if (dims[1] <= 0 || dims[2] <= 0)
    return MakeError(
        "an image of size {0} x {1} cannot be cropped: height and width must be at least 1",
        dims[1], dims[2]);
  return Error::success();
}

struct BoxSides {
  Side y, x;
  BoxSides(const float* box, int64_t height, int64_t width, int64_t crop_height, int64_t crop_width)
      : y{height, crop_height, box[0], box[2]}, x{width, crop_width, box[1], box[3]} {}
};

template <typename T>
void CropBox(const BoxSides& box, const T* image, int64_t channels, const CropAttrs& attrs,
             float* out) {
  for (int64_t row = 0; row < box.y.out; ++row) {
    float in_y = box.y.At(row);
    for (int64_t column = 0; column < box.x.out; ++column, out += channels) {
      float in_x = box.x.At(column);
      if (!box.y.Covers(in_y) || !box.x.Covers(in_x)) {
        std::fill_n(out, channels, attrs.extrapolation);
        continue;
      }
      auto pixel = [&](int64_t y, int64_t x) { return image + (y * box.x.in + x) * channels; };
      if (attrs.nearest) {
        const T* from =
            pixel(static_cast<int64_t>(std::round(in_y)), static_cast<int64_t>(std::round(in_x)));
        for (int64_t c = 0; c < channels; ++c) out[c] = static_cast<float>(from[c]);
        continue;
      }
      Between y = Side::Around(in_y), x = Side::Around(in_x);
      const T *top_left = pixel(y.lower, x.lower), *top_right = pixel(y.lower, x.upper),
              *low_left = pixel(y.upper, x.lower), *low_right = pixel(y.upper, x.upper);
      for (int64_t c = 0; c < channels; ++c) {
        float left = static_cast<float>(top_left[c]), low = static_cast<float>(low_left[c]);
        float top = left + (static_cast<float>(top_right[c]) - left) * x.weight;
        float bottom = low + (static_cast<float>(low_right[c]) - low) * x.weight;
        out[c] = top + (bottom - top) * y.weight;
      }
    }
  }
}

template <typename T>
Error Crop(KernelContext& ctx, const CropAttrs& attrs) {
  const Tensor &image = ctx.input(0), &boxes = ctx.input(1), &box_index = ctx.input(2);
  RETURN_IF_ERROR(CheckImage(image.dims()));
  RETURN_IF_ERROR(CheckBoxes(boxes, box_index, image.dim(0)));
  Dims size = IntsOf(ctx.input(3));
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return MakeError("crop_size must be two positive numbers, got {0}", IntsText(size));
  int64_t channels = image.dim(3);
  Dims dims{boxes.dim(0), size[0], size[1], channels};
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  int64_t crop = size[0] * size[1] * channels, pixels = image.dim(1) * image.dim(2) * channels;
  ctx.ParallelFor(boxes.dim(0), crop * 2.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      BoxSides box(boxes.data<float>() + 4 * i, image.dim(1), image.dim(2), size[0], size[1]);
      CropBox(box, image.data<T>() + box_index.IntAt(i) * pixels, channels, attrs,
              out->data<float>() + i * crop);
    }
  });
  return Error::success();
}

// Calls f(row, column, in_y, in_x) for the crop elements that lie within the image.
template <typename F>
void ForCovered(const BoxSides& box, F&& f) {
  for (int64_t row = 0; row < box.y.out; ++row) {
    float in_y = box.y.At(row);
    if (!box.y.Covers(in_y)) continue;
    for (int64_t column = 0; column < box.x.out; ++column) {
      float in_x = box.x.At(column);
      if (box.x.Covers(in_x)) f(row, column, in_y, in_x);
    }
  }
}

Error CheckGradient(const Tensor& grads, const Tensor& boxes) {
  if (grads.rank() != 4 || grads.dim(0) != boxes.dim(0))
    return MakeError("grads must be [{0}, height, width, channels], got shape {1}", boxes.dim(0),
                     DimsText(grads.dims()));
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0)
    return MakeError("grads must have a height and a width of at least 1, not shape {0}",
                     DimsText(grads.dims()));
  return Error::success();
}

template <typename T>
Error ImageGradient(KernelContext& ctx, const CropAttrs& attrs) {
  const Tensor &grads = ctx.input(0), &boxes = ctx.input(1), &box_index = ctx.input(2);
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(3)));
  RETURN_IF_ERROR(CheckImage(dims));
  RETURN_IF_ERROR(CheckBoxes(boxes, box_index, dims[0]));
  RETURN_IF_ERROR(CheckGradient(grads, boxes));
  int64_t channels = dims[3];
  if (grads.dim(3) != channels)
    return MakeError("grads must have {0} channels, not {1}", channels, grads.dim(3));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  using Compute = ComputeType<T>;
  ASSIGN_OR_RETURN(Tensor sums, ctx.Scratch(DataTypeOf<Compute>(), dims));
  Compute* to = sums.data<Compute>();
  std::fill_n(to, sums.num_elements(), Compute(0));
  for (int64_t i = 0; i < boxes.dim(0); ++i) {
    BoxSides box(boxes.data<float>() + 4 * i, dims[1], dims[2], grads.dim(1), grads.dim(2));
    Compute* image = to + box_index.IntAt(i) * dims[1] * dims[2] * channels;
    const float* from = grads.data<float>() + i * grads.dim(1) * grads.dim(2) * channels;
    ForCovered(box, [&](int64_t row, int64_t column, float in_y, float in_x) {
      const float* grad = from + (row * box.x.out + column) * channels;
      auto add = [&](int64_t y, int64_t x, float by_x, float by_y) {
        Compute* pixel = image + (y * box.x.in + x) * channels;
        for (int64_t c = 0; c < channels; ++c) {
          float part = by_x * (by_y * grad[c]);
          if constexpr (kIsSmallFloat<T>)  // each step rounds, as in TensorFlow
            pixel[c] = RoundedTo<T>(pixel[c] + RoundedTo<T>(part));
          else
            pixel[c] += static_cast<Compute>(part);
        }
      };
      if (attrs.nearest) {
        add(static_cast<int64_t>(std::round(in_y)), static_cast<int64_t>(std::round(in_x)), 1, 1);
        return;
      }
      Between y = Side::Around(in_y), x = Side::Around(in_x);
      add(y.lower, x.lower, 1 - x.weight, 1 - y.weight);
      add(y.lower, x.upper, x.weight, 1 - y.weight);
      add(y.upper, x.lower, 1 - x.weight, y.weight);
      add(y.upper, x.upper, x.weight, y.weight);
    });
  }
  for (int64_t i = 0; i < out->num_elements(); ++i) out->data<T>()[i] = static_cast<T>(to[i]);
  return Error::success();
}

// The gradient with respect to the corners of the boxes; bilinear only.
template <typename T>
Error BoxGradient(KernelContext& ctx, const CropAttrs&) {
  const Tensor &grads = ctx.input(0), &image = ctx.input(1), &boxes = ctx.input(2),
               &box_index = ctx.input(3);
  RETURN_IF_ERROR(CheckImage(image.dims()));
  RETURN_IF_ERROR(CheckBoxes(boxes, box_index, image.dim(0)));
  RETURN_IF_ERROR(CheckGradient(grads, boxes));
  int64_t height = image.dim(1), width = image.dim(2), channels = image.dim(3);
  if (grads.dim(3) != channels)
    return MakeError("grads must have {0} channels, not {1}", channels, grads.dim(3));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, boxes.dims()));
  int64_t crop = grads.dim(1) * grads.dim(2) * channels;
  ctx.ParallelFor(boxes.dim(0), crop * 4.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      BoxSides box(boxes.data<float>() + 4 * i, height, width, grads.dim(1), grads.dim(2));
      const T* from = image.data<T>() + box_index.IntAt(i) * height * width * channels;
      float* to = out->data<float>() + 4 * i;
      std::fill_n(to, 4, 0.0f);
      ForCovered(box, [&](int64_t row, int64_t column, float in_y, float in_x) {
        Between y = Side::Around(in_y), x = Side::Around(in_x);
        auto pixel = [&](int64_t py, int64_t px, int64_t c) {
          return static_cast<float>(from[(py * width + px) * channels + c]);
        };
        // How much this element's source coordinates depend on the bottom and on the right end of
        // the box, from 0 to 1; the rest depends on the top and on the left end.
        float y_share =
            box.y.out > 1 ? static_cast<float>(row) / static_cast<float>(box.y.out - 1) : 0.5f;
        float x_share =
            box.x.out > 1 ? static_cast<float>(column) / static_cast<float>(box.x.out - 1) : 0.5f;
        for (int64_t c = 0; c < channels; ++c) {
          float top_left = pixel(y.lower, x.lower, c), top_right = pixel(y.lower, x.upper, c);
          float low_left = pixel(y.upper, x.lower, c), low_right = pixel(y.upper, x.upper, c);
          float grad = grads.data<float>()[i * crop + (row * box.x.out + column) * channels + c];
          float by_y = (1 - x.weight) * (low_left - top_left) + x.weight * (low_right - top_right);
          float by_x = (1 - y.weight) * (top_right - top_left) + y.weight * (low_right - low_left);
          by_y *= grad * static_cast<float>(height - 1);
          by_x *= grad * static_cast<float>(width - 1);
          to[0] += by_y * (1 - y_share);
          to[1] += by_x * (1 - x_share);
          to[2] += by_y * y_share;
          to[3] += by_x * x_share;
        }
      });
    }
  });
  return Error::success();
}

enum class Form { kCrop, kImageGradient, kBoxGradient };

template <Form form>
Expected<KernelFn> MakeCrop(const KernelSetup& setup) {
  CropAttrs attrs;
  std::string method = setup.node().GetString("method", "bilinear");
  if (method != "bilinear" && method != "nearest")
    return MakeError("method '{0}' is not bilinear or nearest", method);
  attrs.nearest = method == "nearest";
  if (attrs.nearest && form == Form::kBoxGradient)
    return MakeError("method nearest has no gradient of boxes");
  attrs.extrapolation = setup.node().GetFloat("extrapolation_value", 0);
  DataType dtype = form == Form::kImageGradient ? setup.output_type(0)
                   : form == Form::kCrop        ? setup.input_type(0)
                                                : setup.input_type(1);
  KernelFn fn;
  ForType(dtype, RealTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs](KernelContext& ctx) {
      (void)attrs;  // unused for dtypes without a gradient
      if constexpr (form == Form::kCrop) return Crop<T>(ctx, attrs);
      if constexpr (form == Form::kImageGradient && !std::is_integral_v<T>)
        return ImageGradient<T>(ctx, attrs);
      if constexpr (form == Form::kBoxGradient) return BoxGradient<T>(ctx, attrs);
      return MakeError("no gradient for an integer image");
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("CropAndResize", MakeCrop<Form::kCrop>, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("CropAndResizeGradImage", MakeCrop<Form::kImageGradient>,
                   OfTypes("T", DataTypesOf(TypeList<float, double, Eigen::half>())));
GRAPNEL_CPU_KERNEL("CropAndResizeGradBoxes", MakeCrop<Form::kBoxGradient>,
                   OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
