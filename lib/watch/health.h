// The health of a tensor: the numbers of its NaN, infinite, negative, zero and positive elements,
// as in TensorFlow's FULL_HEALTH debug mode.
#ifndef GRAPNEL_LIB_WATCH_HEALTH_H_
#define GRAPNEL_LIB_WATCH_HEALTH_H_

#include <cstdint>

#include "lib/exec/device.h"
#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// The counts of a tensor's elements. For integers and floats they add up to `elements`, if all were
// counted (HealthDetail::kCounts). For bool, false counts as zero and true as positive; a complex
// number is NaN or infinite if its real or imaginary part is; for strings, resources and variants
// all counts stay 0. -0 counts as zero, and so do denormals of bfloat16, float and double: as in
// TensorFlow, whose kernels flush denormals and compute half as float.
struct GRAPNEL_PUBLIC Health : ElementCounts {
  int64_t elements = 0;
  bool IsBad() const { return neg_inf > 0 || pos_inf > 0 || nan > 0; }
  Health& operator+=(const Health& other);
};

enum class HealthDetail {
  kBad,     // NaN and infinities; the other counts may stay 0, and integers cost nothing
  kCounts,  // all counts
};

// Returns the health of a tensor in host memory, in one pass over its elements. Uses the threads of
// `pool` for a large tensor.
GRAPNEL_PUBLIC Health HealthOf(const Tensor& tensor, ThreadPool* pool = nullptr,
                               HealthDetail detail = HealthDetail::kCounts);

// Adds the counts of elements [begin, end) to `sum`, on this thread.
GRAPNEL_PUBLIC void CountElements(const Tensor& tensor, int64_t begin, int64_t end,
                                  HealthDetail detail, ElementCounts& sum);

// Returns the health of a tensor that may be on a device: counted on the device, or in a copy in
// host memory if the device cannot count it. Waits for `stream`, which computes the tensor.
GRAPNEL_PUBLIC Expected<Health> HealthOn(const Tensor& tensor, Stream* stream,
                                         ThreadPool* pool = nullptr,
                                         HealthDetail detail = HealthDetail::kCounts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEALTH_H_
