#include "kernels/common/dispatch.h"

#include <cstring>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace grapnel {

void Widen(const Eigen::half* in, float* out, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<float>(in[i]);
}

void Narrow(const float* in, Eigen::half* out, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<Eigen::half>(in[i]);
}

void Widen(const Eigen::bfloat16* in, float* out, int64_t n) {
  const char* bytes = reinterpret_cast<const char*>(in);
  for (int64_t i = 0; i < n; ++i) {
    uint16_t half;
    std::memcpy(&half, bytes + 2 * i, sizeof half);
    uint32_t bits = static_cast<uint32_t>(half) << 16;
    std::memcpy(out + i, &bits, sizeof bits);
  }
}

void Narrow(const float* in, Eigen::bfloat16* out, int64_t n) {
  char* bytes = reinterpret_cast<char*>(out);
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, in + i, sizeof bits);
    // Rounds to nearest even; a NaN keeps its sign and becomes the quiet NaN, as in Eigen.
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    uint32_t nan = 0x7fc0 | ((bits >> 16) & 0x8000);
    uint16_t half = static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    std::memcpy(bytes + 2 * i, &half, sizeof half);
  }
}

}  // namespace grapnel
