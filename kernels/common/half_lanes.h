// Eight 16-bit floats, held as floats, with SIMD-style operations. The operators round each result;
// Exact() does not.
#ifndef GRAPNEL_KERNELS_COMMON_HALF_LANES_H_
#define GRAPNEL_KERNELS_COMMON_HALF_LANES_H_

#include <algorithm>
#include <cstdint>

#include "kernels/common/rounded_half.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace grapnel {

// T is half or bfloat16.
template <typename T>
class SteppedLanes {
 public:
  static constexpr int64_t kCount = 8;

  SteppedLanes() : SteppedLanes(0) {}
  explicit SteppedLanes(float value) { std::fill_n(lanes_, kCount, value); }
  template <typename From>
  static SteppedLanes At(const From* from) {
    SteppedLanes lanes;
    for (int i = 0; i < kCount; ++i) lanes.lanes_[i] = static_cast<float>(from[i]);
    return lanes;
  }
  void To(float* to) const { std::copy_n(lanes_, kCount, to); }

  // The product of two halves fits a float exactly.
  static SteppedLanes Exact(SteppedLanes a, const SteppedLanes& b) {
    for (int i = 0; i < kCount; ++i) a.lanes_[i] *= b.lanes_[i];
    return a;
  }
  friend SteppedLanes operator+(SteppedLanes a, const SteppedLanes& b) {
    for (int i = 0; i < kCount; ++i) a.lanes_[i] = RoundedTo<T>(a.lanes_[i] + b.lanes_[i]);
    return a;
  }
  friend SteppedLanes operator*(SteppedLanes a, const SteppedLanes& b) {
    for (int i = 0; i < kCount; ++i) a.lanes_[i] = RoundedTo<T>(a.lanes_[i] * b.lanes_[i]);
    return a;
  }

 private:
  float lanes_[kCount];
};

#ifdef __F16C__
template <>
class SteppedLanes<Eigen::half> {
 public:
  static constexpr int64_t kCount = 8;

  SteppedLanes() : lanes_(_mm256_setzero_ps()) {}
  explicit SteppedLanes(float value) : lanes_(_mm256_set1_ps(value)) {}
  static SteppedLanes At(const float* from) { return SteppedLanes(_mm256_loadu_ps(from)); }
  static SteppedLanes At(const Eigen::half* from) {
    return SteppedLanes(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  }
  void To(float* to) const { _mm256_storeu_ps(to, lanes_); }

  static SteppedLanes Exact(SteppedLanes a, SteppedLanes b) {
    return SteppedLanes(_mm256_mul_ps(a.lanes_, b.lanes_));
  }
  friend SteppedLanes operator+(SteppedLanes a, SteppedLanes b) {
    return Rounded(_mm256_add_ps(a.lanes_, b.lanes_));
  }
  friend SteppedLanes operator*(SteppedLanes a, SteppedLanes b) {
    return Rounded(_mm256_mul_ps(a.lanes_, b.lanes_));
  }

 private:
  explicit SteppedLanes(__m256 lanes) : lanes_(lanes) {}
  static SteppedLanes Rounded(__m256 x) {
    return SteppedLanes(_mm256_cvtph_ps(_mm256_cvtps_ph(x, 0)));
  }

  __m256 lanes_;
};
#endif

using HalfLanes = SteppedLanes<Eigen::half>;

// to[i] += a[i] * b[i] for halves held as floats; the product is exact, the sum is rounded.
inline void AddHalfProducts(const float* a, const float* b, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + HalfLanes::kCount <= n; i += HalfLanes::kCount)
    (HalfLanes::At(to + i) + HalfLanes::Exact(HalfLanes::At(a + i), HalfLanes::At(b + i)))
        .To(to + i);
  for (; i < n; ++i) to[i] = RoundedTo<Eigen::half>(to[i] + a[i] * b[i]);
}

// to[i] += a[i] for halves held as floats; the sum is rounded.
inline void AddHalves(const float* a, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + HalfLanes::kCount <= n; i += HalfLanes::kCount)
    (HalfLanes::At(to + i) + HalfLanes::At(a + i)).To(to + i);
  for (; i < n; ++i) to[i] = RoundedTo<Eigen::half>(to[i] + a[i]);
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_HALF_LANES_H_
