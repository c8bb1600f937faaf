// The health of an output, counted while its kernel makes it.
#ifndef GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_
#define GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_

#include <mutex>
#include <optional>

#include "lib/exec/element_loop.h"
#include "lib/watch/health.h"

namespace grapnel {

// Of one output at a time. Count() and Add() are called on several threads, the rest on the node's
// own.
class HealthCounter : public ElementCounter {
 public:
  // The counter of this thread, begun anew for an output that `node` is to make; null where its
  // dtype has nothing to count.
  static HealthCounter* Begin(const Node& node, const Tensor& output, HealthDetail detail);
  // What this thread's counter has counted of `output` of `node`, if that is all of it: then no
  // other pass is needed. Forgets it.
  static std::optional<Health> Take(const Node& node, const Tensor& output, HealthDetail detail);

  void Count(const Tensor& output, int64_t begin, int64_t end, ElementCounts& sum) override;
  void Add(const ElementCounts& sum, int64_t elements) override;

 private:
  std::mutex mutex_;
  Node node_;                   // whose output it is; none: nothing was counted
  const void* data_ = nullptr;  // of the output
  HealthDetail detail_ = HealthDetail::kCounts;
  Health health_;  // `elements` are those that were counted
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_
