// ImageProjectiveTransformV2 and V3: looks up each output pixel at the position that eight numbers
// define.
#include <algorithm>
#include <cmath>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/to_integer.h"

namespace grapnel {
namespace {

enum class FillMode { kConstant, kReflect, kWrap, kNearest };

// Maps a coordinate outside an axis of `length` pixels back onto it. Mode kConstant leaves it
// outside.
float Fold(float at, int64_t length, FillMode mode) {
  if (mode == FillMode::kConstant) return at;
  float last = static_cast<float>(length - 1), size = static_cast<float>(length);
  if (mode == FillMode::kReflect && at < 0) {
    if (length <= 1) return 0;
    float period = 2 * size;
    if (at < period) at += period * std::trunc(-at / period);
    at = at < -size ? at + period : -at - 1;
  } else if (mode == FillMode::kReflect && at > last) {
    if (length <= 1) return 0;
    float period = 2 * size;
    at -= period * std::trunc(at / period);
    if (at >= size) at = period - at - 1;
  } else if (mode == FillMode::kWrap && at < 0) {
    if (length <= 1) return 0;
    at += size * (std::trunc(-at / last) + 1);
  } else if (mode == FillMode::kWrap && at > last) {
    if (length <= 1) return 0;
    at -= size * std::trunc(at / last);
  }
  return std::clamp(at, 0.0f, last);  // NaN stays NaN
}

struct Image {
  int64_t height, width, channels;
  float fill;
  FillMode mode;
  bool bilinear;
};

template <typename T>
T FillValue(float fill) {
  if constexpr (std::is_integral_v<T>)
    return ToInteger<T>(fill);
  else
    return static_cast<T>(fill);
}

template <typename T>
T PixelOr(const Image& image, const T* pixels, float y, float x, int64_t channel) {
  if (!(y >= 0 && y < static_cast<float>(image.height) && x >= 0 &&
        x < static_cast<float>(image.width)))
    return FillValue<T>(image.fill);
  return pixels[(static_cast<int64_t>(y) * image.width + static_cast<int64_t>(x)) * image.channels +
                channel];
}

template <typename T>
T Interpolate(const Image& image, const T* pixels, float y, float x, int64_t channel) {
  if (!image.bilinear) return PixelOr(image, pixels, std::round(y), std::round(x), channel);
  float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
  auto row = [&](float at) {
    return (x1 - x) * static_cast<float>(PixelOr(image, pixels, at, x0, channel)) +
           (x - x0) * static_cast<float>(PixelOr(image, pixels, at, x1, channel));
  };
  float mean = (y1 - y) * row(y0) + (y - y0) * row(y1);  // NaN if the coordinate is NaN
  if constexpr (std::is_integral_v<T>)
    return ToInteger<T>(mean);
  else
    return static_cast<T>(mean);
}

template <typename T>
void TransformRow(const Image& image, const T* pixels, const float* t, int64_t row, int64_t width,
                  T* out) {
  float y = static_cast<float>(row);
  for (int64_t column = 0; column < width; ++column, out += image.channels) {
    float x = static_cast<float>(column), depth = t[6] * x + t[7] * y + 1;
    if (depth == 0) {
      std::fill_n(out, image.channels, FillValue<T>(image.fill));
      continue;
    }
    float from_x = Fold((t[0] * x + t[1] * y + t[2]) / depth, image.width, image.mode);
    float from_y = Fold((t[3] * x + t[4] * y + t[5]) / depth, image.height, image.mode);
    for (int64_t c = 0; c < image.channels; ++c)
      out[c] = Interpolate(image, pixels, from_y, from_x, c);
  }
}

using TransformTypes =
    TypeList<uint8_t, int32_t, int64_t, Eigen::half, Eigen::bfloat16, float, double>;

Error Transform(KernelContext& ctx, Image image) {
  const Tensor &in = ctx.input(0), &transforms = ctx.input(1), &size = ctx.input(2);
  if (in.rank() != 4)
    return MakeError("images must have rank 4, got shape {0}", DimsText(in.dims()));
  if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
      (transforms.dim(0) != 1 && transforms.dim(0) != in.dim(0)))
    return MakeError("transforms must be [{0} or 1,8], got shape {1}", in.dim(0),
                     DimsText(transforms.dims()));
  if (size.rank() != 1 || size.num_elements() != 2 || size.IntAt(0) <= 0 || size.IntAt(1) <= 0)
    return MakeError("output_shape must be a vector of two positive numbers");
  if (ctx.num_inputs() > 3) {
    if (ctx.input(3).rank() != 0)
      return MakeError("fill_value must be a scalar, got shape {0}", DimsText(ctx.input(3).dims()));
    image.fill = *ctx.input(3).data<float>();
  }
  image.height = in.dim(1);
  image.width = in.dim(2);
  image.channels = in.dim(3);
  int64_t height = size.IntAt(0), width = size.IntAt(1), row = width * image.channels;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {in.dim(0), height, width, image.channels}));
  bool known = ForType(in.dtype(), TransformTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ctx.ParallelFor(in.dim(0) * height, 10.0 * row, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t batch = i / height;
        const float* t = transforms.data<float>() + (transforms.dim(0) == 1 ? 0 : 8 * batch);
        TransformRow(image, in.data<T>() + batch * image.height * image.width * image.channels, t,
                     i % height, width, out->data<T>() + i * row);
      }
    });
    return true;
  });
  return known ? Error::success() : MakeError("no kernel for dtype {0}", DataTypeName(in.dtype()));
}

Expected<KernelFn> Make(const KernelSetup& setup) {
  std::string interpolation = setup.node().GetString("interpolation");
  std::string fill = setup.node().GetString("fill_mode", "CONSTANT");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR")
    return MakeError("interpolation must be NEAREST or BILINEAR, got '{0}'", interpolation);
  Image image{0, 0, 0, 0, FillMode::kConstant, interpolation == "BILINEAR"};
  if (fill == "REFLECT")
    image.mode = FillMode::kReflect;
  else if (fill == "WRAP")
    image.mode = FillMode::kWrap;
  else if (fill == "NEAREST")
    image.mode = FillMode::kNearest;
  else if (fill != "CONSTANT")
    return MakeError("fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, got '{0}'", fill);
  return KernelFn([image](KernelContext& ctx) { return Transform(ctx, image); });
}

GRAPNEL_CPU_KERNEL("ImageProjectiveTransformV2", Make,
                   OfTypes("dtype", DataTypesOf(TransformTypes())));
GRAPNEL_CPU_KERNEL("ImageProjectiveTransformV3", Make,
                   OfTypes("dtype", DataTypesOf(TransformTypes())));

}  // namespace
}  // namespace grapnel
