// ResizeArea and ResizeBicubic: each output pixel is a weighted mean of input pixels, with separate
// weights for rows and columns.
#include "kernels/common/dispatch.h"
#include "kernels/cpu/image/resize.h"
#include "kernels/cpu/image/resize_cubic.h"

namespace grapnel {

namespace {

// Keys' kernel with a = -0.5 has the exact slope; older graphs were trained with -0.75. TensorFlow
// reads both kernels from a table of 1024 steps, which is needed to reproduce its numbers.
constexpr int64_t kSteps = 1024;

std::vector<float> CubicTable(double a) {
  std::vector<float> table((kSteps + 1) * 2);
  for (int64_t i = 0; i <= kSteps; ++i) {
    double x = static_cast<double>(i) / static_cast<double>(kSteps);
    table[2 * i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
    x += 1;
    table[2 * i + 1] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
  }
  return table;
}

}  // namespace

std::vector<CubicTap> CubicPositions(const ResizeAxis& axis) {
  static const std::vector<float>* keys = new std::vector<float>(CubicTable(-0.5));
  static const std::vector<float>* legacy = new std::vector<float>(CubicTable(-0.75));
  const std::vector<float>& table = axis.half_pixel_centers ? *keys : *legacy;
  std::vector<CubicTap> taps(axis.out);
  for (int64_t i = 0; i < axis.out; ++i) {
    float at = axis.Source(i), floor = std::floor(at);
    int64_t first = static_cast<int64_t>(floor) - 1;
    int64_t step = std::lrint((at - floor) * static_cast<float>(kSteps));
    const float weights[4] = {table[step * 2 + 1], table[step * 2], table[(kSteps - step) * 2],
                              table[(kSteps - step) * 2 + 1]};
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      int64_t index = std::clamp<int64_t>(first + k, 0, axis.in - 1);
      bool inside = index == first + k || !axis.half_pixel_centers;
      taps[i].index[k] = index;
      taps[i].weight[k] = inside ? weights[k] : 0;
      sum += taps[i].weight[k];
    }
    // With half_pixel_centers, taps outside the image have weight 0, and the other weights are
    // normalized; without, such taps read the border pixel.
    if (axis.half_pixel_centers && std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      for (float& weight : taps[i].weight) weight *= 1 / sum;
    }
  }
  return taps;
}

namespace {

template <typename T>
class Bicubic : public ResizeAttrs {
 public:
  using ResizeAttrs::ResizeAttrs;
  Error operator()(KernelContext& ctx) const {
    ResizeAxis rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, &rows, &columns));
    const Tensor& images = ctx.input(0);
    int64_t channels = images.dim(3);
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {images.dim(0), rows.out, columns.out, channels}));
    std::vector<CubicTap> ys = CubicPositions(rows), xs = CubicPositions(columns);
    int64_t line = columns.in * channels;
    ctx.ParallelFor(images.dim(0) * rows.out, 4.0 * (line + columns.out * channels),
                    [&](int64_t begin, int64_t end) {
                      std::vector<float> mixed(line);
                      for (int64_t row = begin; row < end; ++row) {
                        const CubicTap& y = ys[row % rows.out];
                        const T* image = images.data<T>() + row / rows.out * rows.in * line;
                        const T* from[4];
                        for (int k = 0; k < 4; ++k) from[k] = image + y.index[k] * line;
                        for (int64_t i = 0; i < line; ++i) {
                          mixed[i] = static_cast<float>(from[0][i]) * y.weight[0] +
                                     static_cast<float>(from[1][i]) * y.weight[1] +
                                     static_cast<float>(from[2][i]) * y.weight[2] +
                                     static_cast<float>(from[3][i]) * y.weight[3];
                        }
                        float* to = out->data<float>() + row * columns.out * channels;
                        for (const CubicTap& x : xs) {
                          const float* at[4];
                          for (int k = 0; k < 4; ++k) at[k] = mixed.data() + x.index[k] * channels;
                          for (int64_t c = 0; c < channels; ++c) {
                            *to++ = at[0][c] * x.weight[0] + at[1][c] * x.weight[1] +
                                    at[2][c] * x.weight[2] + at[3][c] * x.weight[3];
                          }
                        }
                      }
                    });
    return Error::success();
  }
};

// The input pixels that one output pixel covers, with the covered fraction of each.
struct Cover {
  std::vector<std::pair<int64_t, float>> parts;
};

// With a single input pixel there is no second corner to align: each output pixel covers a part of
// it.
float ScaleOfArea(ResizeAxis axis) {
  if (axis.in == 1) axis.align_corners = false;
  return axis.scale();
}

std::vector<Cover> Covers(const ResizeAxis& axis) {
  std::vector<Cover> covers(axis.out);
  float scale = ScaleOfArea(axis);
  for (int64_t i = 0; i < axis.out; ++i) {
    float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    int64_t last = static_cast<int64_t>(std::ceil(end));
    for (int64_t k = static_cast<int64_t>(std::floor(begin)); k < last; ++k) {
      float low = static_cast<float>(k), high = static_cast<float>(k + 1);
      float part = low < begin ? (high > end ? scale : high - begin) : (high > end ? end - low : 1);
      covers[i].parts.push_back({std::clamp<int64_t>(k, 0, axis.in - 1), part});
    }
  }
  return covers;
}

template <typename T>
class Area : public ResizeAttrs {
 public:
  using ResizeAttrs::ResizeAttrs;
  Error operator()(KernelContext& ctx) const {
    ResizeAxis rows, columns;
    RETURN_IF_ERROR(Prepare(ctx, &rows, &columns));
    const Tensor& images = ctx.input(0);
    int64_t channels = images.dim(3), line = columns.in * channels;
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.Allocate(0, {images.dim(0), rows.out, columns.out, channels}));
    std::vector<Cover> ys = Covers(rows), xs = Covers(columns);
    float factor = 1 / (ScaleOfArea(rows) * ScaleOfArea(columns));
    double cost = 2.0 * std::max(line, columns.out * channels) *
                  static_cast<double>(std::max<int64_t>(1, rows.in / rows.out));
    ctx.ParallelFor(images.dim(0) * rows.out, cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* image = images.data<T>() + row / rows.out * rows.in * line;
        float* to = out->data<float>() + row * columns.out * channels;
        for (const Cover& x : xs) {
          for (int64_t c = 0; c < channels; ++c) {
            // Sums within a row first, as TensorFlow does.
            float sum = 0;
            for (const auto& y : ys[row % rows.out].parts) {
              const T* from = image + y.first * line + c;
              float of_row = 0;
              for (const auto& part : x.parts)
                of_row += static_cast<float>(from[part.first * channels]) * part.second;
              sum += of_row * y.second;
            }
            *to++ = sum * factor;
          }
        }
      }
    });
    return Error::success();
  }
};

template <template <typename> class Kernel>
Expected<KernelFn> Make(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.input_type(0), RealTypes(), [&](auto tag) {
    fn = Kernel<typename decltype(tag)::type>(setup);
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("ResizeArea", Make<Area>, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("ResizeBicubic", Make<Bicubic>, OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
