// Counts of floats, in one pass with vectors as wide as the machine has.
#ifndef GRAPNEL_LIB_WATCH_FLOAT_COUNTS_H_
#define GRAPNEL_LIB_WATCH_FLOAT_COUNTS_H_

#include <cstdint>

namespace grapnel {

struct FloatCounts {
  int64_t negative = 0, zero = 0;
  bool has_bad = false;  // an infinity or a NaN is among them; then `negative` is not to be used
};

// Denormals count as zeros, whether or not this thread's arithmetic takes them for zeros. At most
// 2^31 elements. Cost: 25 to 35 ps a float with AVX-512, where they are in a near cache.
FloatCounts CountFloats(const float* data, int64_t size);
FloatCounts CountFloats(const double* data, int64_t size);

// Only whether one is infinite or no number: a third of that.
bool HasBadFloats(const float* data, int64_t size);
bool HasBadFloats(const double* data, int64_t size);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_FLOAT_COUNTS_H_
