#include "lib/support/deadline.h"

#include <chrono>

#include "lib/support/text.h"

namespace grapnel {

std::string NotDoneText(double seconds) { return "not done after " + NumberText(seconds) + " s"; }

Deadline::Deadline(double seconds, CancelFlag& flag, std::function<void()> give_up) {
  if (seconds <= 0) return;
  thread_ = std::thread([this, seconds, &flag, give_up = std::move(give_up)] {
    auto ends_within = [this](double time) {
      std::unique_lock lock(mutex_);
      return ended_.wait_for(lock, std::chrono::duration<double>(time),
                             [this] { return has_ended_; });
    };
    if (ends_within(seconds)) return;
    flag.Cancel();
    if (!ends_within(1)) give_up();
  });
}

Deadline::~Deadline() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace grapnel
