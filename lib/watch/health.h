// The health of a tensor: the counts of TensorFlow's FULL_HEALTH debug mode.
#ifndef GRAPNEL_LIB_WATCH_HEALTH_H_
#define GRAPNEL_LIB_WATCH_HEALTH_H_

#include <cstdint>

#include "lib/exec/device.h"
#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// Counts of elements, which add up to num_elements for real numeric dtypes. For bool, false counts
// as zero and true as positive; complex numbers count their real and imaginary parts together (a
// NaN in either is a NaN); strings, resources and variants count nothing.
// -0 counts as zero, and so do denormals, except those of half: as in TensorFlow, whose kernels
// flush denormals and compute half as float.
struct GRAPNEL_PUBLIC Health : ElementCounts {
  int64_t elements = 0;
  bool IsBad() const { return neg_inf > 0 || pos_inf > 0 || nan > 0; }
  Health& operator+=(const Health& other);
};

enum class HealthDetail {
  kBad,     // negative, zero and positive may stay 0; integers cost nothing
  kCounts,  // all counts
};

// Counts in one pass over the elements, in host memory. For a large tensor it uses the threads of
// `pool`.
GRAPNEL_PUBLIC Health HealthOf(const Tensor& tensor, ThreadPool* pool = nullptr,
                               HealthDetail detail = HealthDetail::kCounts);

// Adds elements [begin, end) to `sum`, on this thread.
GRAPNEL_PUBLIC void CountElements(const Tensor& tensor, int64_t begin, int64_t end,
                                  HealthDetail detail, ElementCounts& sum);

// The same for a tensor that may be on a device: counted there, or copied if the device cannot
// count it. Waits for `stream`, which computes the tensor.
GRAPNEL_PUBLIC Expected<Health> HealthOn(const Tensor& tensor, Stream* stream,
                                         ThreadPool* pool = nullptr,
                                         HealthDetail detail = HealthDetail::kCounts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEALTH_H_
