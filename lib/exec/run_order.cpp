#include "lib/exec/run_order.h"

#include <utility>

namespace grapnel {
namespace {

thread_local OrderPoint current_point;

}  // namespace

OrderPoint CurrentOrderPoint() { return current_point; }
AtOrderPoint::AtOrderPoint(OrderPoint point) : before_(std::exchange(current_point, point)) {}
AtOrderPoint::~AtOrderPoint() { current_point = before_; }

void EmitInOrder(OrderedEvent event) {
  if (RunOrder* order = current_point.order)
    order->Emit(current_point.position, std::move(event));
  else
    event();
}

void RunOrder::Begin(size_t positions, OrderPoint outer) {
  outer_ = outer;
  next_ = 0;
  done_.assign(positions, false);
  held_.resize(positions);
}

void RunOrder::Forward(OrderedEvent event) {
  if (outer_.order)
    outer_.order->Emit(outer_.position, std::move(event));
  else
    event();
}

void RunOrder::Emit(uint32_t position, OrderedEvent event) {
  std::lock_guard lock(mutex_);
  if (position == next_)
    Forward(std::move(event));
  else
    held_[position].push_back(std::move(event));
}

void RunOrder::Done(uint32_t position) {
  std::lock_guard lock(mutex_);
  done_[position] = true;
  while (next_ < done_.size() && done_[next_]) {
    if (++next_ == done_.size()) break;
    for (OrderedEvent& event : held_[next_]) Forward(std::move(event));
    held_[next_].clear();
  }
}

void RunOrder::End() {
  std::lock_guard lock(mutex_);
  for (auto& held : held_) {
    for (OrderedEvent& event : held) Forward(std::move(event));
    held.clear();
  }
}

}  // namespace grapnel
