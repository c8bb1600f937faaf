// The health of a tensor: what TensorFlow's FULL_HEALTH debug mode counts.
#ifndef GRAPNEL_LIB_WATCH_HEALTH_H_
#define GRAPNEL_LIB_WATCH_HEALTH_H_

#include <cstdint>

#include "lib/exec/device.h"
#include "lib/exec/tensor.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

// Counts of elements; together they are num_elements for real numeric dtypes. bool counts false as
// zero, true as positive; complex numbers count their real and imaginary parts together (a NaN in
// either is a NaN); strings, resources and variants count nothing.
// -0 is zero, and so are denormals, but for those of half: as in TensorFlow, whose kernels compute
// with denormals flushed, and half as float.
struct GRAPNEL_PUBLIC Health : ElementCounts {
  int64_t elements = 0;
  bool IsBad() const { return neg_inf > 0 || pos_inf > 0 || nan > 0; }
  Health& operator+=(const Health& other);
};

enum class HealthDetail {
  kBad,     // negative, zero and positive may be left at 0; integers cost nothing
  kCounts,  // all
};

// One pass over the elements, which lie in host memory; of a large tensor by the threads of `pool`.
GRAPNEL_PUBLIC Health HealthOf(const Tensor& tensor, ThreadPool* pool = nullptr,
                               HealthDetail detail = HealthDetail::kCounts);

// Adds elements [begin, end) to `sum`, on this thread.
GRAPNEL_PUBLIC void CountElements(const Tensor& tensor, int64_t begin, int64_t end,
                                  HealthDetail detail, ElementCounts& sum);

// The same of a tensor that may lie on a device: counted there, or copied when the device cannot.
// Waits for `stream`, which makes the tensor.
GRAPNEL_PUBLIC Expected<Health> HealthOn(const Tensor& tensor, Stream* stream,
                                         ThreadPool* pool = nullptr,
                                         HealthDetail detail = HealthDetail::kCounts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEALTH_H_
