#include "lib/watch/health_counter.h"

#include "lib/ir/types.h"

namespace grapnel {
namespace {

thread_local HealthCounter counter;

}  // namespace

HealthCounter* HealthCounter::Begin(const Node& node, const Tensor& output, HealthDetail detail) {
  if (output.device() || !IsFloating(output.dtype())) return nullptr;
  counter.node_ = node;
  counter.data_ = output.raw();
  counter.detail_ = detail;
  counter.health_ = Health();
  return &counter;
}

void HealthCounter::Count(const Tensor& output, int64_t begin, int64_t end, ElementCounts& sum) {
  CountElements(output, begin, end, detail_, sum);
}

void HealthCounter::Add(const ElementCounts& sum, int64_t elements) {
  std::lock_guard lock(mutex_);
  health_.ElementCounts::operator+=(sum);
  health_.elements += elements;
}

std::optional<Health> HealthCounter::Take(const Node& node, const Tensor& output,
                                          HealthDetail detail) {
  if (counter.node_ != node) return std::nullopt;
  counter.node_ = Node();
  bool is_same = !output.device() && counter.data_ == output.raw() && counter.detail_ == detail &&
                 counter.health_.elements == output.num_elements();
  return is_same ? std::optional(counter.health_) : std::nullopt;
}

}  // namespace grapnel
