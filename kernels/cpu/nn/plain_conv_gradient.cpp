// Works channels last, like plain_conv.cpp.
#include "kernels/cpu/nn/plain_conv_gradient.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/nn/conv_places.h"
#include "kernels/cpu/nn/half_conv.h"

namespace grapnel {
namespace {

template <typename T>
void DepthwiseInputGradient(KernelContext& ctx, const ConvShape& s, const T* filter,
                            const T* gradient, T* input) {
  int64_t channels = s.in_channels, multiplier = s.out_channels / s.groups;
  int64_t rows = s.batch * s.window[0].in * s.window[1].in;
  ctx.ParallelFor(rows, s.flops() / rows / 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* line = input + row * s.window[2].in * channels;
      std::fill_n(line, s.window[2].in * channels, T(0));
      ForPairsOfRow(s.window, row, [&](int64_t x, int64_t tap, int64_t position) {
        T* to = line + x * channels;
        const T* from = gradient + position * s.out_channels;
        const T* weights = filter + tap * s.out_channels;
        if (multiplier == 1) {
          for (int64_t c = 0; c < channels; ++c)
            to[c] = AddOf<T>(to[c], MulOf<T>(from[c], weights[c]));
          return;
        }
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t m = c * multiplier; m < (c + 1) * multiplier; ++m)
            to[c] = AddOf<T>(to[c], MulOf<T>(from[m], weights[m]));
        }
      });
    }
  });
}

// The contributions of the outputs to their patches are a matrix product; each pixel then sums its
// contributions, so that no two threads add to the same memory.
template <typename T>
Error InputGradientChannelsLast(KernelContext& ctx, const ConvShape& s, const T* filter,
                                const T* gradient, T* input) {
  if constexpr (std::is_same_v<T, float>) {
    if (s.half_steps != ConvShape::HalfSteps::kNone)
      return HalfInputGradient(ctx, s, filter, gradient, input);
  }
  if (IsDepthwise(s)) {
    DepthwiseInputGradient(ctx, s, filter, gradient, input);
    return Error::success();
  }
  int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
  int64_t image_positions = s.positions() / s.batch, image_pixels = s.pixels() / s.batch;
  ConvShape image = s;
  image.batch = 1;
  ASSIGN_OR_RETURN(Tensor shares, ctx.Scratch(DataTypeOf<T>(), {image_positions, s.patch()}));
  T* share = shares.data<T>();
  constexpr int64_t kRows = 64;
  int64_t chunks = (image_positions + kRows - 1) / kRows;
  int64_t rows = s.window[0].in * s.window[1].in;
  for (int64_t b = 0; b < s.batch; ++b) {
    const T* from = gradient + b * image_positions * s.out_channels;
    T* to = input + b * image_pixels * s.in_channels;
    for (int64_t g = 0; g < s.groups; ++g) {
      ctx.ParallelFor(
          chunks, image.flops() / s.groups / chunks / 20, [&](int64_t first, int64_t last) {
            int64_t begin = first * kRows, end = std::min(last * kRows, image_positions);
            GemmShape gemm{end - begin,    s.patch(),      outputs,
                           s.out_channels, s.out_channels, s.patch()};
            gemm.transpose_b = true;
            Gemm(gemm, from + begin * s.out_channels + g * outputs, filter + g * outputs,
                 share + begin * s.patch());
          });
      ctx.ParallelFor(
          rows, s.patch() * 0.5 * image_positions / rows, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
              T* line = to + row * s.window[2].in * s.in_channels + g * inputs;
              for (int64_t x = 0; x < s.window[2].in; ++x)
                std::fill_n(line + x * s.in_channels, inputs, T(0));
              ForPairsOfRow(image.window, row, [&](int64_t x, int64_t tap, int64_t position) {
                T* pixel = line + x * s.in_channels;
                const T* part = share + position * s.patch() + tap * inputs;
                GRAPNEL_VECTORIZE
                for (int64_t c = 0; c < inputs; ++c) pixel[c] = AddOf<T>(pixel[c], part[c]);
              });
            }
          });
    }
  }
  return Error::success();
}

// The part of the filter at one tap: from inputs [c0, c1) of group g to its outputs [o0, o1).
struct FilterBlock {
  int64_t tap, g, c0, c1, o0, o1;
};

template <typename T>
class FilterGradientBlocks {
 public:
  FilterGradientBlocks(const ConvShape& s, const T* input, const T* gradient, T* filter)
      : s_(s), input_(input), gradient_(gradient), filter_(filter) {
    int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups;
    for (int64_t tap = 0; tap < s.patch() / inputs; ++tap) {
      for (int64_t g = 0; g < s.groups; ++g) {
        for (int64_t c = 0; c < inputs; c += kInputs) {
          for (int64_t o = 0; o < outputs; o += kOutputs) {
            blocks_.push_back(
                {tap, g, c, std::min(inputs, c + kInputs), o, std::min(outputs, o + kOutputs)});
          }
        }
      }
    }
  }
  int64_t size() const { return static_cast<int64_t>(blocks_.size()); }

  void Run(int64_t begin, int64_t end) const {
    std::vector<T> pixels(kPositions * kInputs), product(kInputs * kOutputs);
    for (int64_t i = begin; i < end; ++i) RunBlock(blocks_[i], pixels.data(), product.data());
  }

 private:
  static constexpr int64_t kInputs = 32, kOutputs = 256, kPositions = 256;

  void RunBlock(const FilterBlock& block, T* pixels, T* product) const {
    int64_t inputs = s_.in_channels / s_.groups, outputs = s_.out_channels / s_.groups;
    int64_t width = block.c1 - block.c0, columns = block.o1 - block.o0;
    T* to =
        filter_ + (block.tap * inputs + block.c0) * s_.out_channels + block.g * outputs + block.o0;
    for (int64_t c = 0; c < width; ++c) std::fill_n(to + c * s_.out_channels, columns, T(0));
    for (int64_t p0 = 0; p0 < s_.positions(); p0 += kPositions) {
      int64_t count = std::min(kPositions, s_.positions() - p0);
      for (int64_t p = 0; p < count; ++p) {
        int64_t pixel = PixelAt(s_.window, p0 + p, block.tap);
        if (pixel < 0) {
          std::fill_n(pixels + p * width, width, T(0));
        } else {
          std::copy_n(input_ + pixel * s_.in_channels + block.g * inputs + block.c0, width,
                      pixels + p * width);
        }
      }
      GemmShape gemm{width, columns, count, width, s_.out_channels, columns};
      gemm.transpose_a = true;
      Gemm(gemm, pixels, gradient_ + p0 * s_.out_channels + block.g * outputs + block.o0, product);
      for (int64_t c = 0; c < width; ++c) {
        for (int64_t o = 0; o < columns; ++o)
          to[c * s_.out_channels + o] += product[c * columns + o];
      }
    }
  }

  const ConvShape& s_;
  const T *input_, *gradient_;
  T* filter_;
  std::vector<FilterBlock> blocks_;
};

template <typename T>
void DepthwiseFilterGradient(KernelContext& ctx, const ConvShape& s, const T* input,
                             const T* gradient, T* filter) {
  constexpr int64_t kChannels = 32;
  int64_t multiplier = s.out_channels / s.groups, taps = s.patch();
  int64_t blocks = (s.in_channels + kChannels - 1) / kChannels;
  ctx.ParallelFor(taps * blocks, s.flops() / (taps * blocks) / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t tap = i / blocks, c0 = i % blocks * kChannels;
      int64_t c1 = std::min(c0 + kChannels, s.in_channels);
      T* to = filter + tap * s.out_channels;
      std::fill(to + c0 * multiplier, to + c1 * multiplier, T(0));
      for (int64_t p = 0; p < s.positions(); ++p) {
        int64_t pixel = PixelAt(s.window, p, tap);
        if (pixel < 0) continue;
        const T* from = input + pixel * s.in_channels;
        const T* grad = gradient + p * s.out_channels;
        if (multiplier == 1) {
          GRAPNEL_VECTORIZE
          for (int64_t c = c0; c < c1; ++c) to[c] += from[c] * grad[c];
        } else {
          for (int64_t c = c0; c < c1; ++c) {
            for (int64_t m = c * multiplier; m < (c + 1) * multiplier; ++m)
              to[m] += from[c] * grad[m];
          }
        }
      }
    }
  });
}

}  // namespace

template <typename T>
Error ConvInputGradient(KernelContext& ctx, const ConvShape& s, const T* filter, const T* gradient,
                        T* input) {
  int64_t size = s.pixels() * s.in_channels;
  if (size == 0) return Error::success();
  if (s.positions() == 0 || s.out_channels == 0) {
    std::fill_n(input, size, T(0));
    return Error::success();
  }
  if (!s.channels_first) return InputGradientChannelsLast(ctx, s, filter, gradient, input);
  ASSIGN_OR_RETURN(Tensor grad, ctx.Scratch(DataTypeOf<T>(), {s.positions(), s.out_channels}));
  ASSIGN_OR_RETURN(Tensor in, ctx.Scratch(DataTypeOf<T>(), {s.pixels(), s.in_channels}));
  TransposePlanes(ctx, gradient, grad.data<T>(), s.batch, s.out_channels, s.positions() / s.batch);
  RETURN_IF_ERROR(InputGradientChannelsLast(ctx, s, filter, grad.data<T>(), in.data<T>()));
  TransposePlanes(ctx, in.data<T>(), input, s.batch, s.pixels() / s.batch, s.in_channels);
  return Error::success();
}

template <typename T>
Error ConvFilterGradient(KernelContext& ctx, const ConvShape& s, const T* input, const T* gradient,
                         T* filter) {
  int64_t size = s.patch() * s.out_channels;
  if (size == 0) return Error::success();
  if (s.positions() == 0 || s.pixels() == 0) {
    std::fill_n(filter, size, T(0));
    return Error::success();
  }
  Tensor grad, in;
  if (s.channels_first) {
    ASSIGN_OR_RETURN(grad, ctx.Scratch(DataTypeOf<T>(), {s.positions(), s.out_channels}));
    ASSIGN_OR_RETURN(in, ctx.Scratch(DataTypeOf<T>(), {s.pixels(), s.in_channels}));
    TransposePlanes(ctx, gradient, grad.data<T>(), s.batch, s.out_channels,
                    s.positions() / s.batch);
    TransposePlanes(ctx, input, in.data<T>(), s.batch, s.in_channels, s.pixels() / s.batch);
    gradient = grad.data<T>();
    input = in.data<T>();
  }
  if constexpr (std::is_same_v<T, float>) {
    if (s.half_steps != ConvShape::HalfSteps::kNone)
      return HalfFilterGradient(ctx, s, input, gradient, filter);
  }
  if (IsDepthwise(s)) {
    DepthwiseFilterGradient(ctx, s, input, gradient, filter);
    return Error::success();
  }
  FilterGradientBlocks<T> blocks(s, input, gradient, filter);
  ctx.ParallelFor(blocks.size(), s.flops() / blocks.size() / 10,
                  [&](int64_t begin, int64_t end) { blocks.Run(begin, end); });
  return Error::success();
}

template Error ConvInputGradient<float>(KernelContext&, const ConvShape&, const float*,
                                        const float*, float*);
template Error ConvInputGradient<double>(KernelContext&, const ConvShape&, const double*,
                                         const double*, double*);
template Error ConvInputGradient<int32_t>(KernelContext&, const ConvShape&, const int32_t*,
                                          const int32_t*, int32_t*);
template Error ConvFilterGradient<float>(KernelContext&, const ConvShape&, const float*,
                                         const float*, float*);
template Error ConvFilterGradient<double>(KernelContext&, const ConvShape&, const double*,
                                          const double*, double*);

}  // namespace grapnel
