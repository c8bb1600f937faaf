// Maps between the output positions of a convolution and the input pixels that they read, and the
// filter tap between them. Position and pixel numbers count batch and spatial dimensions together.
#ifndef GRAPNEL_KERNELS_CPU_NN_CONV_PLACES_H_
#define GRAPNEL_KERNELS_CPU_NN_CONV_PLACES_H_

#include "kernels/common/window.h"

namespace grapnel {

// The indices of output position `p`, a flat index over batch and three spatial dimensions.
struct Position {
  int64_t batch, o[3];
  Position(const Window& w, int64_t p) {
    o[2] = p % w[2].out;
    p /= w[2].out;
    o[1] = p % w[1].out;
    p /= w[1].out;
    o[0] = p % w[0].out;
    batch = p / w[0].out;
  }
};

// Calls tap(tap index, input pixel index) for the taps of `at` that fall on the input.
template <typename F>
void ForTaps(const Window& w, const Position& at, F&& tap) {
  auto [d0, d1] = w[0].Taps(at.o[0]);
  auto [h0, h1] = w[1].Taps(at.o[1]);
  auto [w0, w1] = w[2].Taps(at.o[2]);
  for (int64_t d = d0; d < d1; ++d) {
    int64_t plane = at.batch * w[0].in + at.o[0] * w[0].stride - w[0].before + d * w[0].dilation;
    for (int64_t h = h0; h < h1; ++h) {
      int64_t row = plane * w[1].in + at.o[1] * w[1].stride - w[1].before + h * w[1].dilation;
      int64_t column = row * w[2].in + at.o[2] * w[2].stride - w[2].before;
      for (int64_t k = w0; k < w1; ++k) {
        tap((d * w[1].kernel + h) * w[2].kernel + k, column + k * w[2].dilation);
      }
    }
  }
}

// Calls f(tap, output) for each tap of one dimension through which an output reads input index `i`.
template <typename F>
void ForOutputs(const WindowDim& dim, int64_t i, F&& f) {
  for (int64_t tap = 0; tap < dim.kernel; ++tap) {
    int64_t at = i + dim.before - tap * dim.dilation;
    if (at < 0) break;
    if (at % dim.stride == 0 && at / dim.stride < dim.out) f(tap, at / dim.stride);
  }
}

// Calls pixel(column, tap, position) for every pair of a pixel in input row `row` (a flat index
// over batch and the first two spatial dimensions) and an output position that reads it.
template <typename F>
void ForPairsOfRow(const Window& w, int64_t row, F&& pixel) {
  int64_t h = row % w[1].in, d = row / w[1].in % w[0].in, batch = row / w[1].in / w[0].in;
  ForOutputs(w[0], d, [&](int64_t kd, int64_t od) {
    ForOutputs(w[1], h, [&](int64_t kh, int64_t oh) {
      int64_t line = ((batch * w[0].out + od) * w[1].out + oh) * w[2].out;
      for (int64_t x = 0; x < w[2].in; ++x) {
        ForOutputs(w[2], x, [&](int64_t kw, int64_t ow) {
          pixel(x, (kd * w[1].kernel + kh) * w[2].kernel + kw, line + ow);
        });
      }
    });
  });
}

// Returns the pixel that output position `p` reads through tap `tap`, or -1 if it is outside the
// input.
inline int64_t PixelAt(const Window& w, int64_t p, int64_t tap) {
  int64_t pixel = p / w[2].out / w[1].out / w[0].out;
  int64_t outs[3] = {p / w[2].out / w[1].out % w[0].out, p / w[2].out % w[1].out, p % w[2].out};
  int64_t taps[3] = {tap / w[2].kernel / w[1].kernel, tap / w[2].kernel % w[1].kernel,
                     tap % w[2].kernel};
  for (int i = 0; i < 3; ++i) {
    int64_t at = outs[i] * w[i].stride - w[i].before + taps[i] * w[i].dilation;
    if (at < 0 || at >= w[i].in) return -1;
    pixel = pixel * w[i].in + at;
  }
  return pixel;
}

// Returns the output position that reads pixel `pixel` through tap `tap`, or -1 if there is none.
inline int64_t PositionAt(const Window& w, int64_t pixel, int64_t tap) {
  int64_t position = pixel / w[2].in / w[1].in / w[0].in;
  int64_t ins[3] = {pixel / w[2].in / w[1].in % w[0].in, pixel / w[2].in % w[1].in,
                    pixel % w[2].in};
  int64_t taps[3] = {tap / w[2].kernel / w[1].kernel, tap / w[2].kernel % w[1].kernel,
                     tap % w[2].kernel};
  for (int i = 0; i < 3; ++i) {
    int64_t at = ins[i] + w[i].before - taps[i] * w[i].dilation;
    if (at < 0 || at % w[i].stride != 0 || at / w[i].stride >= w[i].out) return -1;
    position = position * w[i].out + at / w[i].stride;
  }
  return position;
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_NN_CONV_PLACES_H_
