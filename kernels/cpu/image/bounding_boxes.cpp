// DrawBoundingBoxes: frames one pixel wide, in the given colors or TensorFlow's ten default colors.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/common/to_integer.h"

namespace grapnel {
namespace {

constexpr float kColors[][4] = {{1, 1, 0, 1},     {0, 0, 1, 1},     {1, 0, 0, 1},   {0, 1, 0, 1},
                                {.5f, 0, .5f, 1}, {.5f, .5f, 0, 1}, {.5f, 0, 0, 1}, {0, 0, .5f, 1},
                                {0, 1, 1, 1},     {1, 0, 1, 1}};

using ImageTypes = TypeList<float, Eigen::half>;

struct Canvas {
  int64_t height, width, channels;
};

template <typename T>
void DrawLine(const Canvas& canvas, T* pixels, int64_t row0, int64_t row1, int64_t column0,
              int64_t column1, const T* color) {
  for (int64_t y = std::max<int64_t>(0, row0); y <= std::min(row1, canvas.height - 1); ++y) {
    for (int64_t x = std::max<int64_t>(0, column0); x <= std::min(column1, canvas.width - 1); ++x)
      std::copy_n(color, canvas.channels, pixels + (y * canvas.width + x) * canvas.channels);
  }
}

// The result may be far outside the image, as when `part` is infinite.
int64_t PixelOf(float part, int64_t size) {
  return ToInteger<int64_t>(part * static_cast<float>(size - 1));
}

template <typename T>
void DrawBox(const Canvas& canvas, T* pixels, const float* box, const T* color) {
  for (int i = 0; i < 4; ++i) {
    if (std::isnan(box[i])) return;
  }
  int64_t top = PixelOf(box[0], canvas.height), left = PixelOf(box[1], canvas.width);
  int64_t bottom = PixelOf(box[2], canvas.height), right = PixelOf(box[3], canvas.width);
  if (top > bottom || left > right) return;
  if (top >= canvas.height || bottom < 0 || left >= canvas.width || right < 0) return;
  DrawLine(canvas, pixels, top, top, left, right, color);
  DrawLine(canvas, pixels, bottom, bottom, left, right, color);
  DrawLine(canvas, pixels, top, bottom, left, left, color);
  DrawLine(canvas, pixels, top, bottom, right, right, color);
}

// Returns colors of `channels` numbers each; TensorFlow's defaults if none are given.
template <typename T>
Expected<std::vector<T>> ReadColors(const KernelContext& ctx, int64_t channels) {
  std::vector<T> colors;
  if (ctx.num_inputs() > 2) {
    const Tensor& table = ctx.input(2);
    if (table.rank() != 2 || table.dim(1) < channels)
      return MakeError("colors must be a matrix with {0} columns or more, got shape {1}", channels,
                       DimsText(table.dims()));
    for (int64_t i = 0; i < table.num_elements(); ++i) {
      if (i % table.dim(1) < channels) colors.push_back(T(table.data<float>()[i]));
    }
  }
  if (!colors.empty()) return colors;
  for (const auto& color : kColors) {
    // On images with one channel, frames are white.
    for (int64_t c = 0; c < channels; ++c) colors.push_back(T(channels == 1 ? 1.0f : color[c]));
  }
  return colors;
}

template <typename T>
Error DrawAll(KernelContext& ctx, Tensor& out) {
  const Tensor &images = ctx.input(0), &boxes = ctx.input(1);
  Canvas canvas{images.dim(1), images.dim(2), images.dim(3)};
  ASSIGN_OR_RETURN(std::vector<T> colors, ReadColors<T>(ctx, canvas.channels));
  int64_t count = boxes.dim(1), palette = static_cast<int64_t>(colors.size()) / canvas.channels;
  for (int64_t i = 0; i < boxes.dim(0) * count; ++i) {
    T* pixels = out.data<T>() + i / count * canvas.height * canvas.width * canvas.channels;
    DrawBox(canvas, pixels, boxes.data<float>() + 4 * i,
            colors.data() + i % count % palette * canvas.channels);
  }
  return Error::success();
}

Error Run(KernelContext& ctx) {
  const Tensor &images = ctx.input(0), &boxes = ctx.input(1);
  if (images.rank() != 4)
    return MakeError("images must have rank 4, got shape {0}", DimsText(images.dims()));
  int64_t channels = images.dim(3);
  if (channels != 1 && channels != 3 && channels != 4)
    return MakeError("images must have 1, 3 or 4 channels, got {0}", channels);
  if (boxes.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != images.dim(0))
    return MakeError("boxes must be [{0}, boxes, 4], got shape {1}", images.dim(0),
                     DimsText(boxes.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, images.dims()));
  if (out->raw() != images.raw())
    std::copy_n(static_cast<const char*>(images.raw()), images.byte_size(),
                static_cast<char*>(out->raw()));
  if (out->num_elements() == 0) return Error::success();
  return out->dtype() == proto::DT_HALF ? DrawAll<Eigen::half>(ctx, *out)
                                        : DrawAll<float>(ctx, *out);
}

GRAPNEL_CPU_KERNEL("DrawBoundingBoxes", KernelOf<Run>, OfTypes("T", DataTypesOf(ImageTypes())));
GRAPNEL_CPU_KERNEL("DrawBoundingBoxesV2", KernelOf<Run>, OfTypes("T", DataTypesOf(ImageTypes())));

}  // namespace
}  // namespace grapnel
