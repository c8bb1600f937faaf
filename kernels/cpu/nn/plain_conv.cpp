// Works channels last; the other format is transposed on input and on output.
#include "kernels/cpu/nn/plain_conv.h"

#include <algorithm>
#include <vector>

#include "kernels/common/half_lanes.h"
#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/nn/conv_places.h"
#include "kernels/cpu/nn/half_conv.h"

namespace grapnel {
namespace {

// Computes one output position of a depthwise convolution: one input channel per group is too
// little for a matrix product.
template <typename T>
void DepthwiseRow(const ConvShape& s, const Position& at, const T* input, const T* filter, T* out) {
  int64_t channels = s.in_channels, multiplier = s.out_channels / s.groups;
  std::fill_n(out, s.out_channels, T(0));
  ForTaps(s.window, at, [&](int64_t tap, int64_t pixel) {
    const T* in = input + pixel * channels;
    const T* weights = filter + tap * s.out_channels;
    if constexpr (std::is_same_v<T, float>) {
      if (multiplier == 1 && s.half_steps == ConvShape::HalfSteps::kDepthwise) {
        AddHalfProducts(in, weights, channels, out);
        return;
      }
    }
    if (multiplier == 1) {
      for (int64_t c = 0; c < channels; ++c) out[c] = AddOf<T>(out[c], MulOf<T>(in[c], weights[c]));
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t m = c * multiplier; m < (c + 1) * multiplier; ++m) {
          out[m] = AddOf<T>(out[m], MulOf<T>(in[c], weights[m]));
        }
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      if (s.half_steps == ConvShape::HalfSteps::kNone) return;
      for (int64_t i = 0; i < s.out_channels; ++i) out[i] = RoundedTo<Eigen::half>(out[i]);
    }
  });
}

// Computes output rows [begin, end) through patches; `patches` is scratch memory for them.
template <typename T>
void PatchRows(const ConvShape& s, int64_t begin, int64_t end, const T* input, const T* filter,
               T* output, T* patches) {
  int64_t inputs = s.in_channels / s.groups, outputs = s.out_channels / s.groups, patch = s.patch();
  for (int64_t g = 0; g < s.groups; ++g) {
    std::fill_n(patches, (end - begin) * patch, T(0));
    for (int64_t p = begin; p < end; ++p) {
      T* row = patches + (p - begin) * patch;
      ForTaps(s.window, Position(s.window, p), [&](int64_t tap, int64_t pixel) {
        std::copy_n(input + pixel * s.in_channels + g * inputs, inputs, row + tap * inputs);
      });
    }
    GemmShape gemm{end - begin, outputs, patch, patch, s.out_channels, s.out_channels};
    Gemm(gemm, patches, filter + g * outputs, output + begin * s.out_channels + g * outputs);
  }
}

template <typename T>
void ConvChannelsLast(KernelContext& ctx, const ConvShape& s, const T* input, const T* filter,
                      T* output, const Epilogue<T>& epilogue) {
  if constexpr (std::is_same_v<T, float>) {
    if (s.half_steps == ConvShape::HalfSteps::kVolume) {
      HalfVolumeConv(ctx, s, input, filter, output);
      epilogue.Apply(output, 0, s.positions(), s.out_channels, 0, s.out_channels);
      return;
    }
  }
  bool depthwise = IsDepthwise(s);
  bool as_it_lies = !depthwise && s.groups == 1 && s.patch() == s.in_channels &&
                    s.positions() == s.pixels() &&
                    s.window[0].stride * s.window[1].stride * s.window[2].stride == 1;
  int64_t rows =
      std::clamp<int64_t>((128 << 10) / std::max<int64_t>(1, s.patch() * sizeof(T)), 8, 256);
  int64_t chunks = (s.positions() + rows - 1) / rows;
  ctx.ParallelFor(chunks, s.flops() / chunks / 20, [&](int64_t first, int64_t last) {
    // Thread-local, so that a convolution does not allocate in every run.
    static thread_local std::vector<T> patches;
    size_t needed = depthwise || as_it_lies ? 0 : rows * s.patch();
    if (patches.size() < needed) patches.resize(needed);
    for (int64_t chunk = first; chunk < last; ++chunk) {
      int64_t begin = chunk * rows, end = std::min(begin + rows, s.positions());
      if (depthwise) {
        for (int64_t p = begin; p < end; ++p) {
          DepthwiseRow(s, Position(s.window, p), input, filter, output + p * s.out_channels);
        }
      } else if (as_it_lies) {
        GemmShape gemm{end - begin,   s.out_channels, s.in_channels,
                       s.in_channels, s.out_channels, s.out_channels};
        Gemm(gemm, input + begin * s.in_channels, filter, output + begin * s.out_channels);
      } else {
        PatchRows(s, begin, end, input, filter, output, patches.data());
      }
      epilogue.Apply(output, begin, end, s.out_channels, 0, s.out_channels);
    }
  });
}

}  // namespace

template <typename T>
void TransposePlanes(KernelContext& ctx, const T* in, T* out, int64_t batch, int64_t rows,
                     int64_t columns) {
  constexpr int64_t kBlock = 16;  // lines of a square of floats; both sides stay in the L1 cache
  int64_t blocks = (rows + kBlock - 1) / kBlock;
  ctx.ParallelFor(batch * blocks, kBlock * columns * 1.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = in + i / blocks * rows * columns;
      T* to = out + i / blocks * rows * columns;
      int64_t r0 = i % blocks * kBlock, r1 = std::min(rows, r0 + kBlock);
      for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
        for (int64_t c = c0; c < std::min(columns, c0 + kBlock); ++c) {
          for (int64_t r = r0; r < r1; ++r) to[c * rows + r] = from[r * columns + c];
        }
      }
    }
  });
}

template <typename T>
Error PlainConv(KernelContext& ctx, const ConvShape& s, const T* input, const T* filter, T* output,
                const Epilogue<T>& epilogue) {
  if (s.positions() == 0 || s.out_channels == 0) return Error::success();
  if (!s.channels_first) {
    ConvChannelsLast(ctx, s, input, filter, output, epilogue);
    return Error::success();
  }
  int64_t in_plane = s.pixels() / s.batch, out_plane = s.positions() / s.batch;
  DataType dtype = DataTypeOf<T>();
  ASSIGN_OR_RETURN(Tensor in, ctx.Scratch(dtype, {s.pixels(), s.in_channels}));
  ASSIGN_OR_RETURN(Tensor out, ctx.Scratch(dtype, {s.positions(), s.out_channels}));
  TransposePlanes(ctx, input, in.data<T>(), s.batch, s.in_channels, in_plane);
  Epilogue<T> turned = epilogue;
  Tensor add;
  if (epilogue.add) {
    ASSIGN_OR_RETURN(add, ctx.Scratch(dtype, {s.positions(), s.out_channels}));
    TransposePlanes(ctx, epilogue.add, add.data<T>(), s.batch, s.out_channels, out_plane);
    turned.add = add.data<T>();
  }
  ConvChannelsLast(ctx, s, in.data<T>(), filter, out.data<T>(), turned);
  TransposePlanes(ctx, out.data<T>(), output, s.batch, out_plane, s.out_channels);
  return Error::success();
}

#define INSTANTIATE(T)                                                                  \
  template Error PlainConv<T>(KernelContext&, const ConvShape&, const T*, const T*, T*, \
                              const Epilogue<T>&);                                      \
  template void TransposePlanes<T>(KernelContext&, const T*, T*, int64_t, int64_t, int64_t)
INSTANTIATE(float);
INSTANTIATE(double);
INSTANTIATE(int32_t);
#undef INSTANTIATE

}  // namespace grapnel
