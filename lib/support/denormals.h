// Denormal numbers as zeros, as TensorFlow computes: log(1e-40f) is -inf there, and loops over
// denormals are not slow.
#ifndef GRAPNEL_LIB_SUPPORT_DENORMALS_H_
#define GRAPNEL_LIB_SUPPORT_DENORMALS_H_

#include <immintrin.h>

namespace grapnel {

// While it lives, this thread's SSE and AVX arithmetic takes denormals for zeros and makes none.
class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) {
    if (!IsOn()) _mm_setcsr(before_ | kBoth);
  }
  ~FlushDenormals() {
    if (!IsOn()) _mm_setcsr(before_);
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 1u << 15, kDenormalsAreZero = 1u << 6;
  static constexpr unsigned kBoth = kFlushToZero | kDenormalsAreZero;
  // Where one lies within another, as in each call of a function, nothing is written.
  bool IsOn() const { return (before_ & kBoth) == kBoth; }
  unsigned before_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_DENORMALS_H_
