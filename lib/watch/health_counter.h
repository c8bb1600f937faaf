// Counts the health of an output while its kernel computes it.
#ifndef GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_
#define GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_

#include <mutex>
#include <optional>

#include "lib/exec/element_loop.h"
#include "lib/watch/health.h"

namespace grapnel {

// Counts one output at a time. Count() and Add() may be called on any thread, the other functions
// only on the thread that runs the node.
class HealthCounter : public ElementCounter {
 public:
  // Returns this thread's counter, reset for an output that `node` is about to compute; null if the
  // output is on a device or not of a float dtype; it is then counted after the kernel.
  static HealthCounter* Begin(const Node& node, const Tensor& output, HealthDetail detail);
  // Returns the counts of `output` of `node` if this thread's counter has counted all of it, so
  // that another pass is unnecessary. Resets the counter.
  static std::optional<Health> Take(const Node& node, const Tensor& output, HealthDetail detail);

  void Count(const Tensor& output, int64_t begin, int64_t end, ElementCounts& sum) override;
  void Add(const ElementCounts& sum, int64_t elements) override;

 private:
  std::mutex mutex_;
  Node node_;                   // the counted node; null: nothing was counted
  const void* data_ = nullptr;  // data of the counted output
  HealthDetail detail_ = HealthDetail::kCounts;
  Health health_;  // `elements` is the number counted so far
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEALTH_COUNTER_H_
