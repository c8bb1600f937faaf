// The Fourier transform of one line of numbers of any length.
#ifndef GRAPNEL_KERNELS_CPU_MATH_LINE_FFT_H_
#define GRAPNEL_KERNELS_CPU_MATH_LINE_FFT_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "unsupported/Eigen/FFT"

namespace grapnel {

// Bluestein's algorithm: the transform as a convolution, whose own transforms have a power of two
// as length, so that the cost is n log n for every n. In double, because the detour costs
// precision.
class ChirpFft {
 public:
  using Complex = std::complex<double>;
  explicit ChirpFft(int64_t n);
  // Transforms n numbers in place; does not divide by n.
  void Transform(Complex* line, bool inverse);

 private:
  int64_t n_;
  Eigen::FFT<double> fft_;
  std::vector<Complex> chirp_, spectrum_, work_, result_;
};

// True if the largest prime factor of n is so large that Eigen's algorithm, which takes n times
// that factor, is slower.
bool NeedsChirp(int64_t n);

// Caches the tables of one length. Not thread-safe.
template <typename T>
class LineFft {
 public:
  using Complex = std::complex<T>;
  explicit LineFft(int64_t n) : n_(n) {
    direct_.SetFlag(Eigen::FFT<T>::HalfSpectrum);
    if (NeedsChirp(n)) chirp_.emplace(n);
  }

  // Transform n numbers to n numbers; Inverse divides by n.
  void Forward(Complex* out, const Complex* in) {
    if (!chirp_) return direct_.fwd(out, in, n_);
    Through(in, false, [out](int64_t k, auto value) { out[k] = Complex(value); });
  }
  void Inverse(Complex* out, const Complex* in) {
    if (!chirp_) return direct_.inv(out, in, n_);
    double scale = 1.0 / static_cast<double>(n_);
    Through(in, true, [=](int64_t k, auto value) { out[k] = Complex(value * scale); });
  }
  // Transform n real numbers to the n / 2 + 1 non-redundant ones, and back.
  void ForwardReal(Complex* out, const T* in) {
    if (!chirp_) return direct_.fwd(out, in, n_);
    int64_t half = n_ / 2 + 1;
    Through(in, false, [=](int64_t k, auto value) {
      if (k < half) out[k] = Complex(value);
    });
  }
  void InverseReal(T* out, const Complex* in) {
    if (!chirp_) return direct_.inv(out, in, n_);
    line_.assign(n_, 0);
    for (int64_t k = 0; k <= n_ / 2; ++k) line_[k] = ChirpFft::Complex(in[k]);
    for (int64_t k = n_ / 2 + 1; k < n_; ++k) line_[k] = std::conj(line_[n_ - k]);
    line_[0] = line_[0].real();
    if (n_ % 2 == 0) line_[n_ / 2] = line_[n_ / 2].real();
    chirp_->Transform(line_.data(), true);
    for (int64_t k = 0; k < n_; ++k)
      out[k] = static_cast<T>(line_[k].real() / static_cast<double>(n_));
  }

 private:
  template <typename In, typename Put>
  void Through(const In* in, bool inverse, Put put) {
    line_.assign(n_, 0);
    for (int64_t k = 0; k < n_; ++k) line_[k] = ChirpFft::Complex(in[k]);
    chirp_->Transform(line_.data(), inverse);
    for (int64_t k = 0; k < n_; ++k) put(k, line_[k]);
  }

  int64_t n_;
  Eigen::FFT<T> direct_;
  std::optional<ChirpFft> chirp_;
  std::vector<ChirpFft::Complex> line_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_LINE_FFT_H_
