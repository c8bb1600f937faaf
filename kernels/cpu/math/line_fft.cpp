#include "kernels/cpu/math/line_fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace grapnel {
namespace {

constexpr int64_t kLargestDirectFactor = 256;

}  // namespace

bool NeedsChirp(int64_t n) {
  for (int64_t factor = 2; factor <= kLargestDirectFactor; ++factor) {
    while (n > 1 && n % factor == 0) n /= factor;
  }
  return n > 1;
}

ChirpFft::ChirpFft(int64_t n) : n_(n) {
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  chirp_.resize(n);
  for (int64_t k = 0; k < n; ++k) {
    // The square modulo 2n: the sine and cosine of large angles would lose precision.
    auto turns = static_cast<double>(static_cast<uint64_t>(static_cast<unsigned __int128>(k) * k %
                                                           (2 * static_cast<uint64_t>(n))));
    chirp_[k] = std::polar(1.0, -std::numbers::pi * turns / static_cast<double>(n));
  }
  work_.assign(size, 0);
  for (int64_t k = 0; k < n; ++k) {
    work_[k] = std::conj(chirp_[k]);
    if (k > 0) work_[size - k] = work_[k];
  }
  spectrum_.resize(size);
  result_.resize(size);
  fft_.fwd(spectrum_.data(), work_.data(), size);
}

void ChirpFft::Transform(Complex* line, bool inverse) {
  auto size = static_cast<int64_t>(work_.size());
  std::fill(work_.begin(), work_.end(), Complex(0));
  for (int64_t k = 0; k < n_; ++k) work_[k] = (inverse ? std::conj(line[k]) : line[k]) * chirp_[k];
  fft_.fwd(result_.data(), work_.data(), size);
  for (int64_t k = 0; k < size; ++k) result_[k] *= spectrum_[k];
  fft_.inv(work_.data(), result_.data(), size);
  for (int64_t k = 0; k < n_; ++k) {
    line[k] = work_[k] * chirp_[k];
    if (inverse) line[k] = std::conj(line[k]);
  }
}

}  // namespace grapnel
