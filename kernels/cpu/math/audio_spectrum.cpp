// AudioSpectrogram, the strength of each frequency in windows of samples, and Mfcc, its
// mel-frequency cepstral coefficients, which model human hearing.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

// --- AudioSpectrogram

// An in-place FFT; the size must be a power of 2.
void Transform(std::vector<std::complex<double>>& x) {
  size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t k = 0; k < half; ++k) {
      std::complex<double> turn = std::polar(1.0, -M_PI * static_cast<double>(k) / half);
      for (size_t i = k; i < n; i += 2 * half) {
        std::complex<double> odd = turn * x[i + half];
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
  }
}

struct SpectrogramAttrs {
  int64_t window, stride;
  bool squared;

  size_t padded() const {  // rounded up to a power of 2
    size_t size = 1;
    while (size < static_cast<size_t>(window)) size *= 2;
    return size;
  }
};

// Transforms windows of one channel, faded at the edges (Hann).
void PutWindows(const Tensor& samples, int64_t channel, int64_t windows,
                const SpectrogramAttrs& attrs, float* out) {
  int64_t channels = samples.dim(1);
  size_t bins = attrs.padded() / 2 + 1;
  std::vector<double> fade(attrs.window);
  for (int64_t i = 0; i < attrs.window; ++i)
    fade[i] =
        0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(attrs.window));
  for (int64_t w = 0; w < windows; ++w) {
    std::vector<std::complex<double>> x(attrs.padded());
    for (int64_t i = 0; i < attrs.window; ++i) {
      int64_t at = (w * attrs.stride + i) * channels + channel;
      x[i] = static_cast<double>(samples.data<float>()[at]) * fade[i];
    }
    Transform(x);
    for (size_t k = 0; k < bins; ++k) {
      auto power = static_cast<float>(std::norm(x[k]));
      *out++ = attrs.squared ? power : std::sqrt(power);
    }
  }
}

Error Spectrogram(KernelContext& ctx, const SpectrogramAttrs& attrs) {
  const Tensor& samples = ctx.input(0);
  if (samples.rank() != 2)
    return MakeError("input must be [samples, channels], got shape {0}", DimsText(samples.dims()));
  int64_t windows =
      samples.dim(0) < attrs.window ? 0 : 1 + (samples.dim(0) - attrs.window) / attrs.stride;
  int64_t bins = static_cast<int64_t>(attrs.padded()) / 2 + 1;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {samples.dim(1), windows, bins}));
  if (out->num_elements() == 0) return Error::success();
  auto cost = static_cast<double>(windows * bins) * 50;
  ctx.ParallelFor(samples.dim(1), cost, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      PutWindows(samples, c, windows, attrs, out->data<float>() + c * windows * bins);
  });
  return Error::success();
}

Expected<KernelFn> MakeSpectrogram(const KernelSetup& setup) {
  SpectrogramAttrs attrs = {setup.node().GetInt("window_size"), setup.node().GetInt("stride"),
                            setup.node().GetBool("magnitude_squared")};
  constexpr int64_t kMost = 1 << 30;
  if (attrs.window < 2 || attrs.window > kMost || attrs.stride < 1)
    return MakeError("window_size must be in [2, {0}] and stride at least 1, got {1} and {2}",
                     kMost, attrs.window, attrs.stride);
  return KernelFn([attrs](KernelContext& ctx) { return Spectrogram(ctx, attrs); });
}

// --- Mfcc

struct MfccAttrs {
  double upper, lower;  // frequencies in hertz
  int64_t channels, coefficients;
};

double MelOf(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Overlapping triangles, evenly spaced in mels: each bin contributes to the two channels around it,
// as far as these exist.
class MelFilters {
 public:
  static Expected<MelFilters> Of(const MfccAttrs& attrs, int64_t bins, double rate) {
    double per_bin = 0.5 * rate / static_cast<double>(bins - 1);
    MelFilters filters;
    filters.begin_ = static_cast<int64_t>(1.5 + std::min(attrs.lower / per_bin, 1e15));
    filters.end_ = static_cast<int64_t>(std::min(attrs.upper / per_bin, 1e15));
    if (filters.end_ >= bins)
      return MakeError(
          "upper_frequency_limit {0} is above the frequencies of {1} bins at sample_rate {2}",
          attrs.upper, bins, rate);
    double low = MelOf(attrs.lower);
    double step = (MelOf(attrs.upper) - low) / static_cast<double>(attrs.channels + 1);
    int64_t channel = 0;
    for (int64_t i = filters.begin_; i <= filters.end_; ++i) {
      double mel = MelOf(static_cast<double>(i) * per_bin);
      while (channel < attrs.channels + 1 && low + step * static_cast<double>(channel + 1) < mel)
        ++channel;
      double next = low + step * static_cast<double>(std::min(channel, attrs.channels) + 1);
      filters.bins_.push_back({channel - 1, (next - mel) / step});
    }
    return filters;
  }

  void Sum(const float* powers, std::vector<double>& channels) const {
    std::fill(channels.begin(), channels.end(), 0);
    auto count = static_cast<int64_t>(channels.size());
    for (int64_t i = begin_; i <= end_; ++i) {
      const Bin& bin = bins_[i - begin_];
      double strength = std::sqrt(static_cast<double>(powers[i])), part = strength * bin.weight;
      if (bin.channel >= 0 && bin.channel < count) channels[bin.channel] += part;
      if (bin.channel + 1 < count) channels[bin.channel + 1] += strength - part;
    }
  }

 private:
  struct Bin {
    int64_t channel;  // the lower channel, -1 for none
    double weight;    // of the lower channel; the next one gets the rest
  };
  int64_t begin_ = 0, end_ = 0;
  std::vector<Bin> bins_;
};

void CosineTransform(const std::vector<double>& in, int64_t count, float* out) {
  auto n = static_cast<double>(in.size());
  double scale = std::sqrt(2.0 / n), angle = M_PI / n;
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (size_t j = 0; j < in.size(); ++j)
      sum +=
          scale * std::cos(static_cast<double>(i) * angle * (static_cast<double>(j) + 0.5)) * in[j];
    out[i] = static_cast<float>(sum);
  }
}

Error Coefficients(KernelContext& ctx, const MfccAttrs& attrs) {
  const Tensor &powers = ctx.input(0), &rate = ctx.input(1);
  if (powers.rank() != 3 || rate.num_elements() != 1)
    return MakeError(
        "expected a spectrogram [channels, windows, bins] and one sample_rate, got "
        "shapes {0} and {1}",
        DimsText(powers.dims()), DimsText(rate.dims()));
  int64_t bins = powers.dim(2), rows = powers.dim(0) * powers.dim(1);
  if (bins < 2 || rate.IntAt(0) < 1)
    return MakeError("expected at least 2 bins and a positive sample_rate, got {0} and {1}", bins,
                     rate.IntAt(0));
  auto hertz = static_cast<double>(rate.IntAt(0));
  ASSIGN_OR_RETURN(MelFilters filters, MelFilters::Of(attrs, bins, hertz));
  ASSIGN_OR_RETURN(Tensor * out,
                   ctx.Allocate(0, {powers.dim(0), powers.dim(1), attrs.coefficients}));
  auto cost = static_cast<double>(bins + attrs.channels * attrs.coefficients) * 10;
  ctx.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<double> channels(attrs.channels);
    for (int64_t row = begin; row < end; ++row) {
      filters.Sum(powers.data<float>() + row * bins, channels);
      constexpr double kLeast = 1e-12;
      for (double& channel : channels) channel = std::log(std::max(channel, kLeast));
      CosineTransform(channels, attrs.coefficients, out->data<float>() + row * attrs.coefficients);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeMfcc(const KernelSetup& setup) {
  const Node& node = setup.node();
  MfccAttrs attrs = {static_cast<double>(node.GetFloat("upper_frequency_limit", 4000)),
                     static_cast<double>(node.GetFloat("lower_frequency_limit", 20)),
                     node.GetInt("filterbank_channel_count", 40),
                     node.GetInt("dct_coefficient_count", 13)};
  constexpr int64_t kMost = 1 << 12;
  if (attrs.channels < 1 || attrs.channels > kMost || attrs.coefficients < 1 ||
      attrs.coefficients > attrs.channels)
    return MakeError(
        "expected filterbank_channel_count in [1, {0}] and dct_coefficient_count in [1, "
        "filterbank_channel_count], got {1} and {2}",
        kMost, attrs.channels, attrs.coefficients);
  if (!(attrs.lower >= 0 && attrs.upper > attrs.lower && std::isfinite(attrs.upper)))
    return MakeError(
        "lower_frequency_limit and upper_frequency_limit must be finite, non-negative and "
        "ascending, got {0} and {1}",
        attrs.lower, attrs.upper);
  return KernelFn([attrs](KernelContext& ctx) { return Coefficients(ctx, attrs); });
}

GRAPNEL_CPU_KERNEL("AudioSpectrogram", MakeSpectrogram);
GRAPNEL_CPU_KERNEL("Mfcc", MakeMfcc);

}  // namespace
}  // namespace grapnel
