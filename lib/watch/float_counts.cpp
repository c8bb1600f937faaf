#include "lib/watch/float_counts.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace grapnel {
namespace {

// To find infinities and NaNs, sum x * 0 over all elements x: the product is NaN if x is infinite
// or NaN, else zero, so the sum is NaN if any element is bad. Integer operations would not depend
// on how the CPU treats denormals, but need two instructions.

template <typename T>
struct Bits;
template <>
struct Bits<float> {
  using Int = int32_t;
  static constexpr Int kExponent = 0x7F800000;
  static constexpr int kSign = 31;
};
template <>
struct Bits<double> {
  using Int = int64_t;
  static constexpr Int kExponent = 0x7FF0000000000000;
  static constexpr int kSign = 63;
};

// --- Portable code, for vectors of kBytes bytes.

template <int kBytes, typename T>
[[gnu::always_inline]] inline FloatCounts CountVectors(const T* data, int64_t size) {
  using Int = typename Bits<T>::Int;
  constexpr Int kExponent = Bits<T>::kExponent;
  typedef T Floats __attribute__((vector_size(kBytes)));
  typedef Int Ints __attribute__((vector_size(kBytes)));
  constexpr int kLanes = kBytes / sizeof(T);
  Ints negative[2] = {}, zero[2] = {};
  Floats bad[2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    for (int k = 0; k < 2; ++k) {
      Floats values;
      std::memcpy(&values, data + i + k * kLanes, sizeof values);
      Ints bits = (Ints)values, is_zero = (bits & kExponent) == 0;  // all ones, -1, where true
      zero[k] -= is_zero;
      negative[k] -= (bits >> Bits<T>::kSign) & ~is_zero;
      bad[k] += values * T(0);
    }
  }
  FloatCounts counts;
  for (int lane = 0; lane < kLanes; ++lane) {
    counts.negative += negative[0][lane] + negative[1][lane];
    counts.zero += zero[0][lane] + zero[1][lane];
    T sum = bad[0][lane] + bad[1][lane];
    counts.has_bad |= sum != sum;
  }
  for (; i < size; ++i) {
    Int bits;
    std::memcpy(&bits, data + i, sizeof bits);
    bool is_zero = (bits & kExponent) == 0;
    counts.zero += is_zero;
    counts.negative += bits < 0 && !is_zero;
    counts.has_bad |= (bits & kExponent) == kExponent;
  }
  return counts;
}

template <int kBytes, typename T>
[[gnu::always_inline]] inline bool HasBadVectors(const T* data, int64_t size) {
  typedef T Floats __attribute__((vector_size(kBytes)));
  constexpr int kLanes = kBytes / sizeof(T);
  Floats bad[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) {
      Floats values;
      std::memcpy(&values, data + i + k * kLanes, sizeof values);
      bad[k] += values * T(0);
    }
  }
  T sum = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    sum += (bad[0][lane] + bad[1][lane]) + (bad[2][lane] + bad[3][lane]);
  for (; i < size; ++i) sum += data[i] * T(0);
  return sum != sum;
}

// --- AVX-512. Comparisons return masks; a mask also selects the elements of the last, partial
// vector.

#define GRAPNEL_AVX512 [[gnu::target("avx512f,avx512dq"), gnu::always_inline]] static inline

struct Float512 {
  using T = float;
  using Mask = __mmask16;
  using Floats = __m512;
  static constexpr int kLanes = 16;
  GRAPNEL_AVX512 Floats Load(const T* p) { return _mm512_loadu_ps(p); }
  GRAPNEL_AVX512 Floats Load(Mask m, const T* p) { return _mm512_maskz_loadu_ps(m, p); }
  GRAPNEL_AVX512 __m512i BitsOf(Floats v) { return _mm512_castps_si512(v); }
  GRAPNEL_AVX512 Floats AddZeroTimes(Floats v, Floats sum) {
    return _mm512_fmadd_ps(v, _mm512_setzero_ps(), sum);
  }
  GRAPNEL_AVX512 bool HasNan(Floats a, Floats b) {
    Floats sum = _mm512_add_ps(a, b);
    return _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q) != 0;
  }
  GRAPNEL_AVX512 Floats Zero() { return _mm512_setzero_ps(); }
  GRAPNEL_AVX512 Mask NotZero(__m512i bits) {
    return _mm512_test_epi32_mask(bits, _mm512_set1_epi32(Bits<T>::kExponent));
  }
  GRAPNEL_AVX512 __m512i AddSigns(__m512i sum, Mask m, __m512i bits) {
    return _mm512_mask_add_epi32(sum, m, sum, _mm512_srli_epi32(bits, Bits<T>::kSign));
  }
  GRAPNEL_AVX512 __m512i AddOnes(__m512i sum, Mask m) {
    return _mm512_mask_sub_epi32(sum, m, sum, _mm512_set1_epi32(-1));
  }
  GRAPNEL_AVX512 int64_t Sum(__m512i a, __m512i b) {
    return _mm512_reduce_add_epi32(_mm512_add_epi32(a, b));
  }
};

struct Double512 {
  using T = double;
  using Mask = __mmask8;
  using Floats = __m512d;
  static constexpr int kLanes = 8;
  GRAPNEL_AVX512 Floats Load(const T* p) { return _mm512_loadu_pd(p); }
  GRAPNEL_AVX512 Floats Load(Mask m, const T* p) { return _mm512_maskz_loadu_pd(m, p); }
  GRAPNEL_AVX512 __m512i BitsOf(Floats v) { return _mm512_castpd_si512(v); }
  GRAPNEL_AVX512 Floats AddZeroTimes(Floats v, Floats sum) {
    return _mm512_fmadd_pd(v, _mm512_setzero_pd(), sum);
  }
  GRAPNEL_AVX512 bool HasNan(Floats a, Floats b) {
    Floats sum = _mm512_add_pd(a, b);
    return _mm512_cmp_pd_mask(sum, sum, _CMP_UNORD_Q) != 0;
  }
  GRAPNEL_AVX512 Floats Zero() { return _mm512_setzero_pd(); }
  GRAPNEL_AVX512 Mask NotZero(__m512i bits) {
    return _mm512_test_epi64_mask(bits, _mm512_set1_epi64(Bits<T>::kExponent));
  }
  GRAPNEL_AVX512 __m512i AddSigns(__m512i sum, Mask m, __m512i bits) {
    return _mm512_mask_add_epi64(sum, m, sum, _mm512_srli_epi64(bits, Bits<T>::kSign));
  }
  GRAPNEL_AVX512 __m512i AddOnes(__m512i sum, Mask m) {
    return _mm512_mask_sub_epi64(sum, m, sum, _mm512_set1_epi64(-1));
  }
  GRAPNEL_AVX512 int64_t Sum(__m512i a, __m512i b) {
    return _mm512_reduce_add_epi64(_mm512_add_epi64(a, b));
  }
};

// The running sums of one of several independent chains, which the processor adds in parallel.
template <typename L>
struct Sums512 {
  __m512i negative, not_zero;
  typename L::Floats bad;
};

template <typename L>
GRAPNEL_AVX512 void Add(Sums512<L>& sums, typename L::Floats values) {
  __m512i bits = L::BitsOf(values);
  auto not_zero = L::NotZero(bits);
  sums.negative = L::AddSigns(sums.negative, not_zero, bits);
  sums.not_zero = L::AddOnes(sums.not_zero, not_zero);
  sums.bad = L::AddZeroTimes(values, sums.bad);
}

template <typename L>
[[gnu::target("avx512f,avx512dq")]] FloatCounts CountAvx512(const typename L::T* data,
                                                            int64_t size) {
  const __m512i none = _mm512_setzero_si512();
  Sums512<L> a = {none, none, L::Zero()}, b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * L::kLanes <= size; i += 4 * L::kLanes) {
    Add(a, L::Load(data + i));
    Add(b, L::Load(data + i + L::kLanes));
    Add(c, L::Load(data + i + 2 * L::kLanes));
    Add(d, L::Load(data + i + 3 * L::kLanes));
  }
  for (; i + L::kLanes <= size; i += L::kLanes) Add(a, L::Load(data + i));
  if (i < size) Add(b, L::Load(static_cast<typename L::Mask>((1U << (size - i)) - 1), data + i));
  FloatCounts counts;
  counts.negative = L::Sum(a.negative, b.negative) + L::Sum(c.negative, d.negative);
  counts.zero = size - L::Sum(a.not_zero, b.not_zero) - L::Sum(c.not_zero, d.not_zero);
  counts.has_bad = L::HasNan(a.bad, b.bad) || L::HasNan(c.bad, d.bad);
  return counts;
}

template <typename L>
[[gnu::target("avx512f,avx512dq")]] bool HasBadAvx512(const typename L::T* data, int64_t size) {
  typename L::Floats a = L::Zero(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * L::kLanes <= size; i += 4 * L::kLanes) {
    a = L::AddZeroTimes(L::Load(data + i), a);
    b = L::AddZeroTimes(L::Load(data + i + L::kLanes), b);
    c = L::AddZeroTimes(L::Load(data + i + 2 * L::kLanes), c);
    d = L::AddZeroTimes(L::Load(data + i + 3 * L::kLanes), d);
  }
  for (; i + L::kLanes <= size; i += L::kLanes) a = L::AddZeroTimes(L::Load(data + i), a);
  if (i < size)
    b = L::AddZeroTimes(L::Load(static_cast<typename L::Mask>((1U << (size - i)) - 1), data + i),
                        b);
  return L::HasNan(a, b) || L::HasNan(c, d);
}

#undef GRAPNEL_AVX512

// Keeps both counts in one sum, which saves an instruction for each vector: the upper half of a
// lane counts the elements that are not zero; the sign bits are added to the lower half.
[[gnu::target("avx512f,avx512dq,avx512vbmi2")]] FloatCounts CountAvx512Vbmi2(const float* data,
                                                                             int64_t size) {
  constexpr int64_t kVector = 16, kStep = 4 * kVector;
  constexpr int64_t kMost = 32767 * kStep;  // more would overflow half a lane
  const __m512i exponent = _mm512_set1_epi32(Bits<float>::kExponent);
  const __m512i half_one = _mm512_set1_epi32(0x8000), lower = _mm512_set1_epi32(0xFFFF);
  __m512 bad[4] = {};
  FloatCounts counts;
  auto add = [&](__m512 values, __m512i & sum, __m512 & bad_sum)
      __attribute__((always_inline, target("avx512f,avx512dq,avx512vbmi2"))) {
    __m512i bits = _mm512_castps_si512(values);
    __mmask16 not_zero = _mm512_test_epi32_mask(bits, exponent);
    sum = _mm512_mask_add_epi32(sum, not_zero, sum, _mm512_shldi_epi32(half_one, bits, 1));
    bad_sum = _mm512_fmadd_ps(values, _mm512_setzero_ps(), bad_sum);
  };
  int64_t not_zero = 0;
  for (int64_t begin = 0; begin < size; begin += kMost) {
    int64_t i = begin, end = size - begin < kMost ? size : begin + kMost;
    __m512i sums[4] = {};
    for (; i + kStep <= end; i += kStep) {
      for (int k = 0; k < 4; ++k) add(_mm512_loadu_ps(data + i + k * kVector), sums[k], bad[k]);
    }
    for (; i < end; i += kVector) {
      auto mask = static_cast<__mmask16>((1U << std::min(kVector, end - i)) - 1);
      add(_mm512_maskz_loadu_ps(mask, data + i), sums[0], bad[0]);
    }
    __m512i negative_sum = _mm512_setzero_si512(), not_zero_sum = negative_sum;
    for (__m512i sum : sums) {
      negative_sum = _mm512_add_epi32(negative_sum, _mm512_and_si512(sum, lower));
      not_zero_sum = _mm512_add_epi32(not_zero_sum, _mm512_srli_epi32(sum, 16));
    }
    counts.negative += _mm512_reduce_add_epi32(negative_sum);
    not_zero += _mm512_reduce_add_epi32(not_zero_sum);
  }
  counts.zero = size - not_zero;
  __m512 all = _mm512_add_ps(_mm512_add_ps(bad[0], bad[1]), _mm512_add_ps(bad[2], bad[3]));
  counts.has_bad = _mm512_cmp_ps_mask(all, all, _CMP_UNORD_Q) != 0;
  return counts;
}

// --- Choice of the version for this CPU.

template <typename T>
[[gnu::target("avx2,fma")]] FloatCounts CountAvx2(const T* data, int64_t size) {
  return CountVectors<32>(data, size);
}
template <typename T>
[[gnu::target("avx2,fma")]] bool HasBadAvx2(const T* data, int64_t size) {
  return HasBadVectors<32>(data, size);
}
template <typename T>
FloatCounts CountAny(const T* data, int64_t size) {
  return CountVectors<16>(data, size);
}
template <typename T>
bool HasBadAny(const T* data, int64_t size) {
  return HasBadVectors<16>(data, size);
}

enum class Cpu { kAny, kAvx2, kAvx512, kAvx512Vbmi2 };
Cpu ThisCpu() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return __builtin_cpu_supports("avx512vbmi2") ? Cpu::kAvx512Vbmi2 : Cpu::kAvx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Cpu::kAvx2 : Cpu::kAny;
}

template <typename L>
auto CounterOf(Cpu cpu) {
  using T = typename L::T;
  return cpu >= Cpu::kAvx512 ? CountAvx512<L> : cpu == Cpu::kAvx2 ? CountAvx2<T> : CountAny<T>;
}
template <typename L>
auto SearcherOf(Cpu cpu) {
  using T = typename L::T;
  return cpu >= Cpu::kAvx512 ? HasBadAvx512<L> : cpu == Cpu::kAvx2 ? HasBadAvx2<T> : HasBadAny<T>;
}

}  // namespace

FloatCounts CountFloats(const float* data, int64_t size) {
  static const auto count =
      ThisCpu() == Cpu::kAvx512Vbmi2 ? CountAvx512Vbmi2 : CounterOf<Float512>(ThisCpu());
  return count(data, size);
}
FloatCounts CountFloats(const double* data, int64_t size) {
  static const auto count = CounterOf<Double512>(ThisCpu());
  return count(data, size);
}
bool HasBadFloats(const float* data, int64_t size) {
  static const auto search = SearcherOf<Float512>(ThisCpu());
  return search(data, size);
}
bool HasBadFloats(const double* data, int64_t size) {
  static const auto search = SearcherOf<Double512>(ThisCpu());
  return search(data, size);
}

}  // namespace grapnel
