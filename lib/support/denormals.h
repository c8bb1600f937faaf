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
  // True if flushing was on before this guard. Nested guards, as in nested function calls, then
  // skip the write to MXCSR.
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
