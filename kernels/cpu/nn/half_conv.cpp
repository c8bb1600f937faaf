#include "kernels/cpu/nn/half_conv.h"

#include <algorithm>
#include <vector>

#include "kernels/common/half_lanes.h"
#include "kernels/cpu/linalg/half_product.h"
#include "kernels/cpu/nn/conv_places.h"

namespace grapnel {
namespace {

constexpr double kStepCost = 0.3;  // of a product that is rounded and added

// TensorFlow processes as many images at a time as fit in kImagesAtATime halves. It multiplies by a
// tensor contraction instead of a matrix product when an image has kEnoughForAThread elements for
// each of two threads.
constexpr int64_t kImagesAtATime = (30 << 20) / 2, kEnoughForAThread = (256 << 10) / 2;
// TensorFlow's cost estimate for an element of a volume patch, in cycles.
constexpr double kPatches = 269.0 / 8;

int64_t TapsOf(const ConvShape& s) { return s.patch() / (s.in_channels / s.groups); }

// Packs steps [begin, end) of `rows` rows, whose distance is `stride`, side by side into a panel.
void LayRows(const float* rows_at, int64_t rows, int64_t stride, int64_t begin, int64_t end,
             float* panel) {
  for (int64_t step = begin; step < end; ++step) {
    for (int64_t r = 0; r < rows; ++r) *panel++ = rows_at[r * stride + step];
  }
}

// Transposes [rows, columns] to [columns, rows].
Expected<Tensor> Turned(KernelContext& ctx, const float* from, int64_t rows, int64_t columns) {
  ASSIGN_OR_RETURN(Tensor turned, ctx.Scratch(proto::DT_FLOAT, {columns, rows}));
  TransposePlanes(ctx, from, turned.data<float>(), 1, rows, columns);
  return turned;
}

// Computes c[plan.m, plan.n] in chunks of rows; lay(row, rows, patches) writes the rows of a, each
// plan.k long.
template <typename Lay>
void ProductOfPatches(KernelContext& ctx, const HalfPlan& plan, const float* b, float* c,
                      Lay&& lay) {
  constexpr int64_t kRows = 32;
  int64_t chunks = (plan.m + kRows - 1) / kRows;
  double cost = kStepCost * kRows * static_cast<double>(plan.n) * static_cast<double>(plan.k);
  ctx.ParallelFor(chunks, cost, [&](int64_t begin, int64_t end) {
    std::vector<float> patches(kRows * plan.k);
    HalfProduct product(plan, b);
    for (int64_t row = begin * kRows; row < std::min(plan.m, end * kRows); row += kRows) {
      int64_t rows = std::min(kRows, plan.m - row);
      lay(row, rows, patches.data());
      auto left = [&](int64_t first, int64_t last, float* panel) {
        LayRows(patches.data(), rows, plan.k, first, last, panel);
      };
      product.Rows(rows, plan.whole_rows() - row, left, c + row * plan.n, plan.n);
    }
  });
}

// --- The gradient of the input

void DepthwiseInputGradient(KernelContext& ctx, const ConvShape& s, const float* filter,
                            const float* gradient, float* input) {
  int64_t width = s.window[2].in, multiplier = s.out_channels / s.groups;
  int64_t rows = s.pixels() / width;
  ctx.ParallelFor(rows, s.flops() * kStepCost / rows, [&](int64_t begin, int64_t end) {
    std::vector<float> line(width * s.out_channels);
    for (int64_t row = begin; row < end; ++row) {
      std::fill(line.begin(), line.end(), 0.0f);
      ForPairsOfRow(s.window, row, [&](int64_t x, int64_t tap, int64_t position) {
        AddHalfProducts(gradient + position * s.out_channels, filter + tap * s.out_channels,
                        s.out_channels, line.data() + x * s.out_channels);
      });
      float* to = input + row * width * s.in_channels;
      for (int64_t i = 0; i < width * s.in_channels; ++i) {
        to[i] = line[i * multiplier];
        for (int64_t m = 1; m < multiplier; ++m)
          to[i] = RoundedTo<Eigen::half>(to[i] + line[i * multiplier + m]);
      }
    }
  });
}

// Sums the contributions to each pixel, starting with the first output position.
void GatherShares(KernelContext& ctx, const ConvShape& image, const float* shares, float* input) {
  int64_t width = image.window[2].in, channels = image.in_channels, taps = TapsOf(image);
  int64_t rows = image.pixels() / width;
  ctx.ParallelFor(
      rows, 1.0 * image.positions() * image.patch() / rows, [&](int64_t begin, int64_t end) {
        // The contributions to each pixel of a row, by tap. The last tap belongs to the first
        // output position.
        std::vector<const float*> parts(width * taps);
        for (int64_t row = begin; row < end; ++row) {
          std::fill(parts.begin(), parts.end(), nullptr);
          ForPairsOfRow(image.window, row, [&](int64_t x, int64_t tap, int64_t position) {
            parts[x * taps + taps - 1 - tap] = shares + position * image.patch() + tap * channels;
          });
          for (int64_t x = 0; x < width; ++x) {
            float* pixel = input + (row * width + x) * channels;
            std::fill_n(pixel, channels, 0.0f);
            for (int64_t i = 0; i < taps; ++i) {
              const float* part = parts[x * taps + i];
              if (part) AddHalves(part, channels, pixel);
            }
          }
        }
      });
}

// Processes image by image: the contributions of the output positions to their patches are a matrix
// product.
Error InputGradientByShares(KernelContext& ctx, const ConvShape& s, const float* filter,
                            const float* gradient, float* input) {
  ConvShape image = s;
  image.batch = 1;
  int64_t positions = image.positions(), patch = s.patch(), outs = s.out_channels;
  ASSIGN_OR_RETURN(Tensor turned, Turned(ctx, filter, patch, outs));
  ASSIGN_OR_RETURN(Tensor shares, ctx.Scratch(proto::DT_FLOAT, {positions, patch}));
  int64_t size = positions * outs + patch * outs + positions * patch;
  bool tensors = s.batch == 1 || size / 2 >= kEnoughForAThread;
  HalfPlan plan =
      tensors ? PlanOfTensors(positions, patch, outs) : PlanOfMatrices(positions, patch, outs);
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* from = gradient + b * positions * outs;
    ProductOfPatches(ctx, plan, turned.data<float>(), shares.data<float>(),
                     [&](int64_t row, int64_t rows, float* to) {
                       std::copy_n(from + row * outs, rows * outs, to);
                     });
    GatherShares(ctx, image, shares.data<float>(), input + b * image.pixels() * s.in_channels);
  }
  return Error::success();
}

// For batches of volumes: a convolution of the gradient with the reversed filter.
Error InputGradientOfVolumes(KernelContext& ctx, const ConvShape& s, const float* filter,
                             const float* gradient, float* input) {
  int64_t taps = TapsOf(s), ins = s.in_channels, outs = s.out_channels;
  ASSIGN_OR_RETURN(Tensor weights, ctx.Scratch(proto::DT_FLOAT, {taps * outs, ins}));
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t o = 0; o < outs; ++o) {
      float* to = weights.data<float>() + ((taps - 1 - tap) * outs + o) * ins;
      for (int64_t i = 0; i < ins; ++i) to[i] = filter[(tap * ins + i) * outs + o];
    }
  }
  HalfPlan plan = PlanOfTensors(s.pixels(), ins, taps * outs, kPatches);
  ProductOfPatches(ctx, plan, weights.data<float>(), input,
                   [&](int64_t row, int64_t rows, float* to) {
                     for (int64_t i = 0; i < rows; ++i) {
                       for (int64_t tap = taps - 1; tap >= 0; --tap, to += outs) {
                         int64_t position = PositionAt(s.window, row + i, tap);
                         if (position < 0)
                           std::fill_n(to, outs, 0.0f);
                         else
                           std::copy_n(gradient + position * outs, outs, to);
                       }
                     }
                   });
  return Error::success();
}

// --- The gradient of the filter

void DepthwiseFilterGradient(KernelContext& ctx, const ConvShape& s, const float* input,
                             const float* gradient, float* filter) {
  constexpr int64_t kChannels = 64;
  int64_t multiplier = s.out_channels / s.groups, outs = s.out_channels, taps = TapsOf(s);
  int64_t positions = s.positions() / s.batch, chunks = (s.groups + kChannels - 1) / kChannels;
  double cost = s.flops() * kStepCost / (taps * chunks);
  ctx.ParallelFor(taps * chunks, cost, [&](int64_t begin, int64_t end) {
    std::vector<float> of_image(kChannels * multiplier), repeated(kChannels * multiplier);
    for (int64_t i = begin; i < end; ++i) {
      int64_t tap = i / chunks, c0 = i % chunks * kChannels;
      int64_t o0 = c0 * multiplier, n = std::min(kChannels, s.groups - c0) * multiplier;
      float* to = filter + tap * outs + o0;
      std::fill_n(to, n, 0.0f);
      for (int64_t b = 0; b < s.batch; ++b) {
        std::fill_n(of_image.data(), n, 0.0f);
        for (int64_t p = b * positions; p < (b + 1) * positions; ++p) {
          int64_t pixel = PixelAt(s.window, p, tap);
          if (pixel < 0) continue;
          const float* from = input + pixel * s.in_channels + c0;
          if (multiplier > 1) {
            for (int64_t o = 0; o < n; ++o) repeated[o] = from[o / multiplier];
            from = repeated.data();
          }
          AddHalfProducts(from, gradient + p * outs + o0, n, of_image.data());
        }
        AddHalves(of_image.data(), n, to);
      }
    }
  });
}

// Multiplies the patches of as many images at a time as TensorFlow takes by the gradient, and adds
// up the products.
void FilterGradientOfImages(KernelContext& ctx, const ConvShape& s, const float* input,
                            const float* gradient, float* filter) {
  constexpr int64_t kChannels = 16;
  int64_t taps = TapsOf(s), ins = s.in_channels, outs = s.out_channels, patch = s.patch();
  int64_t positions = s.positions() / s.batch, chunks = (ins + kChannels - 1) / kChannels;
  int64_t size = positions * patch + positions * outs + patch * outs;
  int64_t images = std::min(s.batch, (kImagesAtATime + size - 1) / size);
  ctx.ParallelFor(
      taps * chunks, s.flops() / 2 * kStepCost / (taps * chunks), [&](int64_t begin, int64_t end) {
        std::vector<float> part(kChannels * outs);
        for (int64_t i = begin; i < end; ++i) {
          int64_t tap = i / chunks, c0 = i % chunks * kChannels,
                  rows = std::min(kChannels, ins - c0);
          int64_t row = tap * ins + c0;
          for (int64_t b = 0; b < s.batch; b += images) {
            int64_t first = b * positions;
            HalfPlan plan = PlanOfTensors(patch, outs, std::min(images, s.batch - b) * positions);
            auto left = [&](int64_t from, int64_t to, float* panel) {
              for (int64_t p = from; p < to; ++p, panel += rows) {
                int64_t pixel = PixelAt(s.window, first + p, tap);
                if (pixel < 0)
                  std::fill_n(panel, rows, 0.0f);
                else
                  std::copy_n(input + pixel * ins + c0, rows, panel);
              }
            };
            float* to = b == 0 ? filter + row * outs : part.data();
            HalfProduct(plan, gradient + first * outs)
                .Rows(rows, plan.whole_rows() - row, left, to, outs);
            for (int64_t k = 0; b > 0 && k < rows * outs; ++k) {
              float& sum = filter[row * outs + k];
              sum = RoundedTo<Eigen::half>(sum + part[k]);
            }
          }
        }
      });
}

// Multiplies the input by a matrix with a row for each output channel and tap: the gradient at the
// position that reads each pixel through the tap. Sums over all pixels, and within each pixel over
// the batch.
Error FilterGradientOfVolumes(KernelContext& ctx, const ConvShape& s, const float* input,
                              const float* gradient, float* filter) {
  int64_t taps = TapsOf(s), ins = s.in_channels, outs = s.out_channels;
  int64_t pixels = s.pixels() / s.batch;
  ASSIGN_OR_RETURN(Tensor turned, ctx.Scratch(proto::DT_FLOAT, {s.pixels(), ins}));
  for (int64_t i = 0; i < s.pixels(); ++i) {
    std::copy_n(input + (i % s.batch * pixels + i / s.batch) * ins, ins,
                turned.data<float>() + i * ins);
  }
  HalfPlan plan = PlanOfTensors(taps * outs, ins, s.pixels(), kPatches);
  ctx.ParallelFor(taps, s.flops() / 2 * kStepCost / taps, [&](int64_t begin, int64_t end) {
    std::vector<float> result(outs * ins);
    HalfProduct product(plan, turned.data<float>());
    for (int64_t tap = begin; tap < end; ++tap) {
      // The rows of the left matrix are ordered by output channel, then by tap in reverse.
      int64_t first = taps - 1 - tap;
      int64_t whole = (plan.whole_rows() - first + taps - 1) / taps;
      auto left = [&](int64_t from, int64_t to, float* panel) {
        for (int64_t i = from; i < to; ++i, panel += outs) {
          int64_t position = PositionAt(s.window, i % s.batch * pixels + i / s.batch, tap);
          if (position < 0)
            std::fill_n(panel, outs, 0.0f);
          else
            std::copy_n(gradient + position * outs, outs, panel);
        }
      };
      product.Rows(outs, whole, left, result.data(), ins);
      for (int64_t o = 0; o < outs; ++o) {
        for (int64_t i = 0; i < ins; ++i) filter[(tap * ins + i) * outs + o] = result[o * ins + i];
      }
    }
  });
  return Error::success();
}

}  // namespace

void HalfVolumeConv(KernelContext& ctx, const ConvShape& s, const float* input, const float* filter,
                    float* output) {
  HalfPlan plan = PlanOfTensors(s.positions(), s.out_channels, s.patch(), kPatches);
  ProductOfPatches(ctx, plan, filter, output, [&](int64_t row, int64_t rows, float* to) {
    std::fill_n(to, rows * plan.k, 0.0f);
    for (int64_t i = 0; i < rows; ++i, to += plan.k) {
      ForTaps(s.window, Position(s.window, row + i), [&](int64_t tap, int64_t pixel) {
        std::copy_n(input + pixel * s.in_channels, s.in_channels, to + tap * s.in_channels);
      });
    }
  });
}

Error HalfInputGradient(KernelContext& ctx, const ConvShape& s, const float* filter,
                        const float* gradient, float* input) {
  if (s.half_steps == ConvShape::HalfSteps::kDepthwise) {
    DepthwiseInputGradient(ctx, s, filter, gradient, input);
    return Error::success();
  }
  if (s.half_steps == ConvShape::HalfSteps::kVolume && s.batch > 1)
    return InputGradientOfVolumes(ctx, s, filter, gradient, input);
  return InputGradientByShares(ctx, s, filter, gradient, input);
}

Error HalfFilterGradient(KernelContext& ctx, const ConvShape& s, const float* input,
                         const float* gradient, float* filter) {
  if (s.half_steps == ConvShape::HalfSteps::kVolume)
    return FilterGradientOfVolumes(ctx, s, input, gradient, filter);
  if (s.half_steps == ConvShape::HalfSteps::kDepthwise)
    DepthwiseFilterGradient(ctx, s, input, gradient, filter);
  else
    FilterGradientOfImages(ctx, s, input, gradient, filter);
  return Error::success();
}

}  // namespace grapnel
