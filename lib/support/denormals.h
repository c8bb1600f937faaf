// Flushes denormal numbers to zero, as TensorFlow does: log(1e-40f) is -inf in TensorFlow, and
// loops over denormals are not slow.
#ifndef GRAPNEL_LIB_SUPPORT_DENORMALS_H_
#define GRAPNEL_LIB_SUPPORT_DENORMALS_H_

#include <immintrin.h>

namespace grapnel {

// MXCSR bits: flush results to zero (FTZ), treat operands as zero (DAZ).
constexpr unsigned kFlushBoth = 1u << 15 | 1u << 6;

// For its lifetime, SSE and AVX arithmetic on this thread treats denormal operands as zeros and
// flushes denormal results to zero.
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
  // True if another guard had already turned flushing on, as in nested function calls. This guard
  // then leaves MXCSR as it is, since writing it takes time.
  bool IsOn() const { return (before_ & kFlushBoth) == kFlushBoth; }
  unsigned before_;
};

// For its lifetime, this thread computes with denormals, as threads do by default.
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
