// AdjustContrast, version 1: scales each channel's distance from its mean over the image, clamped
// to bounds, in float.
#include <algorithm>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"

namespace grapnel {
namespace {

using ImageTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, float, double>;

struct Bounds {
  float factor, low, high;
};

template <typename T>
void AdjustImage(const T* in, int64_t pixels, int64_t channels, Bounds bounds, float* out) {
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (int64_t p = 0; p < pixels; ++p) sum += static_cast<double>(in[p * channels + c]);
    auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    for (int64_t p = 0; p < pixels; ++p) {
      float value = (static_cast<float>(in[p * channels + c]) - mean) * bounds.factor + mean;
      out[p * channels + c] = std::max(std::min(value, bounds.high), bounds.low);
    }
  }
}

Error Adjust(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 3)
    return MakeError("images must be [..., height, width, channels], got shape {0}",
                     DimsText(in.dims()));
  for (int i : {1, 2, 3}) {
    if (ctx.input(i).rank() != 0)
      return MakeError("contrast_factor, min_value and max_value must be scalars, got shape {0}",
                       DimsText(ctx.input(i).dims()));
  }
  Bounds bounds = {*ctx.input(1).data<float>(), *ctx.input(2).data<float>(),
                   *ctx.input(3).data<float>()};
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (in.num_elements() == 0) return Error::success();
  int rank = in.rank();
  int64_t channels = in.dim(rank - 1), pixels = in.dim(rank - 2) * in.dim(rank - 3);
  int64_t size = pixels * channels;
  ForType(in.dtype(), ImageTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto cost = static_cast<double>(size) * 2;
    ctx.ParallelFor(in.num_elements() / size, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        AdjustImage(in.data<T>() + i * size, pixels, channels, bounds,
                    out->data<float>() + i * size);
    });
    return true;
  });
  return Error::success();
}

GRAPNEL_CPU_KERNEL("AdjustContrast", KernelOf<Adjust>, OfTypes("T", DataTypesOf(ImageTypes())));

}  // namespace
}  // namespace grapnel
