// Denormal numbers as zeros, as TensorFlow computes: log(1e-40f) is -inf there, and loops over
// denormals are not slow.
#ifndef GRAPNEL_LIB_SUPPORT_DENORMALS_H_
#define GRAPNEL_LIB_SUPPORT_DENORMALS_H_

#include <immintrin.h>

namespace grapnel {

// Bits of MXCSR: results are flushed to zero, operands taken for zero.
constexpr unsigned kFlushBoth = 1u << 15 | 1u << 6;

// While it lives, this thread's SSE and AVX arithmetic takes denormals for zeros and makes none.
class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) {
    if (!IsOn()) _mm_setcsr(before_ | kFlushBoth);
  }
  ~FlushDenormals() {
    if (!IsOn()) _mm_setcsr(before_);
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  // Where one lies within another, as in each call of a function, nothing is written.
  bool IsOn() const { return (before_ & kFlushBoth) == kFlushBoth; }
  unsigned before_;
};

// While it lives, denormals are numbers as any other, as on a thread that computes nothing.
class KeepDenormals {
 public:
  KeepDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ & ~kFlushBoth); }
  ~KeepDenormals() { _mm_setcsr(before_); }
  KeepDenormals(const KeepDenormals&) = delete;
  KeepDenormals& operator=(const KeepDenormals&) = delete;

 private:
  unsigned before_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_DENORMALS_H_
