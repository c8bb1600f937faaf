// Matrix products, convolutions and pools.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/cuda/selftest.h"

// tests/cuda/emulated/cudnn.cpp counts its calls; the real cuDNN does not.
extern "C" __attribute__((weak)) int EmulatedConvolutions();
extern "C" __attribute__((weak)) int EmulatedFusedConvolutions();

namespace selftest {
namespace {

double Activated(GrapnelCudaActivation activation, double x) {
  switch (activation) {
    case kGrapnelCudaFusedRelu:
      return std::max(x, 0.0);
    case kGrapnelCudaFusedTanh:
      return std::tanh(x);
    case kGrapnelCudaFusedGeluApproximate:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

SELFTEST(MatMul) {
  for (int variant = 0; variant < 4 * 4 * 2; ++variant) {
    constexpr GrapnelCudaActivation kActivations[] = {kGrapnelCudaLinear, kGrapnelCudaFusedRelu,
                                                      kGrapnelCudaFusedTanh,
                                                      kGrapnelCudaFusedGeluApproximate};
    GrapnelCudaMatMul spec;
    std::memset(&spec, 0, sizeof spec);
    spec.type = kGrapnelCudaFloat;
    spec.transpose_a = variant & 1;
    spec.transpose_b = variant >> 1 & 1;
    spec.activation = kActivations[variant >> 2 & 3];
    bool batched = variant >> 4;
    spec.a_batch = batched ? 3 : 1;
    spec.b_batch = 1;
    spec.m = 37;
    spec.n = 20;
    spec.k = 65;
    std::vector<float> a = Random(spec.a_batch * spec.m * spec.k), b = Random(spec.k * spec.n),
                       bias = Random(spec.n), expected;
    for (int64_t batch = 0; batch < spec.a_batch; ++batch) {
      const float* left = &a[batch * spec.m * spec.k];
      for (int64_t i = 0; i < spec.m; ++i) {
        for (int64_t j = 0; j < spec.n; ++j) {
          double sum = bias[j];
          for (int64_t k = 0; k < spec.k; ++k) {
            sum += static_cast<double>(left[spec.transpose_a ? k * spec.m + i : i * spec.k + k]) *
                   b[spec.transpose_b ? j * spec.k + k : k * spec.n + j];
          }
          expected.push_back(static_cast<float>(Activated(spec.activation, sum)));
        }
      }
    }
    Array<float> from_a(a), from_b(b), added(bias), to(expected.size());
    std::string name = "product " + std::to_string(variant);
    for (int again = 0; again < 2; ++again) {  // the second run uses the choice of the first
      Expect(api->matmul(stream, &spec, to.get(), from_a.get(), from_b.get(), added.get(), why,
                         sizeof why),
             name);
      Compare(name, to.Read(), expected, 1e-4);
    }
  }
}

SELFTEST(Convolution) {
  for (int variant = 0; variant < 32; ++variant) {
    bool depthwise = variant >= 16 && variant < 24, pixel = variant >= 24;
    GrapnelCudaWindow w;
    std::memset(&w, 0, sizeof w);
    w.channels_last = variant & 1;
    w.batch = 2;
    w.in_channels = 4;
    w.groups = depthwise ? w.in_channels : variant & 2 && !pixel ? 2 : 1;
    w.out_channels = depthwise ? 8 : 6;
    bool uneven = variant & 4 && !pixel, relu = depthwise || pixel ? variant & 2 : variant & 8;
    int64_t side = pixel ? 1 : 3;
    for (int d = 0; d < 2; ++d) {
      w.in[d] = 11 + d;
      w.kernel[d] = side;
      w.stride[d] = pixel ? 1 : 1 + d;
      w.dilation[d] = 1;
      w.before[d] = pixel ? 0 : 1;
      w.after[d] = uneven ? 2 : w.before[d];
      w.out[d] = (w.in[d] + w.before[d] + w.after[d] - w.kernel[d]) / w.stride[d] + 1;
    }
    int64_t inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
    std::vector<float> in = Random(w.batch * w.in_channels * w.in[0] * w.in[1]),
                       filter = Random(w.out_channels * inputs * side * side),
                       bias = Random(w.out_channels);
    auto image_at = [&](int64_t n, int64_t c, int64_t y, int64_t x) {
      return in[w.channels_last ? ((n * w.in[0] + y) * w.in[1] + x) * w.in_channels + c
                                : ((n * w.in_channels + c) * w.in[0] + y) * w.in[1] + x];
    };
    auto filter_at = [&](int64_t o, int64_t c, int64_t ky, int64_t kx) {
      return filter[w.channels_last ? ((o * side + ky) * side + kx) * inputs + c
                                    : ((o * inputs + c) * side + ky) * side + kx];
    };
    std::vector<float> expected(w.batch * w.out_channels * w.out[0] * w.out[1]);
    for (int64_t n = 0; n < w.batch; ++n) {
      for (int64_t o = 0; o < w.out_channels; ++o) {
        for (int64_t y = 0; y < w.out[0]; ++y) {
          for (int64_t x = 0; x < w.out[1]; ++x) {
            double sum = bias[o];
            for (int64_t c = 0; c < inputs; ++c) {
              for (int64_t ky = 0; ky < side; ++ky) {
                for (int64_t kx = 0; kx < side; ++kx) {
                  int64_t iy = y * w.stride[0] - w.before[0] + ky,
                          ix = x * w.stride[1] - w.before[1] + kx;
                  if (iy < 0 || iy >= w.in[0] || ix < 0 || ix >= w.in[1]) continue;
                  sum += static_cast<double>(image_at(n, o / outputs * inputs + c, iy, ix)) *
                         filter_at(o, c, ky, kx);
                }
              }
            }
            if (relu) sum = std::max(sum, 0.0);
            expected[w.channels_last ? ((n * w.out[0] + y) * w.out[1] + x) * w.out_channels + o
                                     : ((n * w.out_channels + o) * w.out[0] + y) * w.out[1] + x] =
                static_cast<float>(sum);
          }
        }
      }
    }
    Array<float> from(in), weights(filter), added(bias), to(expected.size());
    std::string name = "convolution " + std::to_string(variant);
    for (int again = 0; again < 2; ++again) {  // the second run uses the choice of the first
      Expect(api->convolution(stream, kGrapnelCudaFloat, &w, to.get(), from.get(), weights.get(),
                              added.get(), relu ? kGrapnelCudaFusedRelu : kGrapnelCudaLinear, 0,
                              why, sizeof why),
             name);
      Compare(name, to.Read(), expected, 1e-4);
    }
  }
  if (!EmulatedConvolutions) return;
  // Each convolution runs twice. Of the 8 with three pixels and equal padding: 5 in one call, 1
  // without its bias, 2 by the module's own kernel. Of those with one pixel: the 4 with channels
  // first, in one call.
  Compare("calls of cuDNN", std::vector<int>{EmulatedFusedConvolutions(), EmulatedConvolutions()},
          {18, 2});
}

SELFTEST(Pool) {
  for (int variant = 0; variant < 4; ++variant) {
    bool is_max = variant & 1, last = variant & 2;
    GrapnelCudaWindow w;
    std::memset(&w, 0, sizeof w);
    w.channels_last = last;
    w.batch = 2;
    w.in_channels = w.out_channels = 3;
    w.groups = 1;
    for (int d = 0; d < 2; ++d) {
      w.in[d] = 7;
      w.kernel[d] = 3;
      w.stride[d] = 2;
      w.dilation[d] = 1;
      w.before[d] = d;  // different on both sides
      w.after[d] = 1;
      w.out[d] = (7 + w.before[d] + 1 - 3) / 2 + 1;
    }
    std::vector<float> in = Random(2 * 3 * 49), expected(2 * 3 * w.out[0] * w.out[1]);
    auto at = [&](const int64_t* size, int64_t n, int64_t c, int64_t y, int64_t x) {
      return last ? ((n * size[0] + y) * size[1] + x) * 3 + c
                  : ((n * 3 + c) * size[0] + y) * size[1] + x;
    };
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t y = 0; y < w.out[0]; ++y) {
        for (int64_t x = 0; x < w.out[1]; ++x) {
          double value = is_max ? -HUGE_VAL : 0, count = 0;
          for (int64_t iy = y * 2 - w.before[0]; iy < y * 2 - w.before[0] + 3; ++iy) {
            for (int64_t ix = x * 2 - w.before[1]; ix < x * 2 - w.before[1] + 3; ++ix) {
              if (iy < 0 || iy >= 7 || ix < 0 || ix >= 7) continue;
              float element = in[at(w.in, i / 3, i % 3, iy, ix)];
              value = is_max ? std::max<double>(value, element) : value + element;
              ++count;
            }
          }
          expected[at(w.out, i / 3, i % 3, y, x)] =
              static_cast<float>(is_max ? value : value / count);
        }
      }
    }
    Array<float> from(in), to(expected.size());
    Expect(api->pool(stream, kGrapnelCudaFloat, is_max, to.get(), from.get(), &w, why, sizeof why),
           "pool");
    Compare(is_max ? "max pool" : "mean pool", to.Read(), expected);
  }
}

}  // namespace
}  // namespace selftest
