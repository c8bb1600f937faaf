#include "lib/exec/run_order.h"

#include <utility>

namespace grapnel {
namespace {

thread_local OrderPoint current_point;

}  // namespace

OrderPoint CurrentOrderPoint() { return current_point; }
AtOrderPoint::AtOrderPoint(OrderPoint point) : before_(std::exchange(current_point, point)) {}
AtOrderPoint::~AtOrderPoint() { current_point = before_; }

void TellInOrder(Telling tell) {
  if (RunOrder* order = current_point.order)
    order->Tell(current_point.position, std::move(tell));
  else
    tell();
}

void RunOrder::Begin(size_t positions, OrderPoint outer) {
  outer_ = outer;
  next_ = 0;
  done_.assign(positions, false);
  held_.resize(positions);
}

void RunOrder::Forward(Telling tell) {
  if (outer_.order)
    outer_.order->Tell(outer_.position, std::move(tell));
  else
    tell();
}

void RunOrder::Tell(uint32_t position, Telling tell) {
  std::lock_guard lock(mutex_);
  if (position == next_)
    Forward(std::move(tell));
  else
    held_[position].push_back(std::move(tell));
}

void RunOrder::Done(uint32_t position) {
  std::lock_guard lock(mutex_);
  done_[position] = true;
  while (next_ < done_.size() && done_[next_]) {
    if (++next_ == done_.size()) break;
    for (Telling& tell : held_[next_]) Forward(std::move(tell));
    held_[next_].clear();
  }
}

void RunOrder::End() {
  std::lock_guard lock(mutex_);
  for (auto& held : held_) {
    for (Telling& tell : held) Forward(std::move(tell));
    held.clear();
  }
}

}  // namespace grapnel
