#include "lib/watch/tap_writer.h"

namespace grapnel {
namespace {

// Waking the writing thread costs some microseconds, so it is woken only when kWorthWaking events
// wait, or a thread waits for it; otherwise it wakes by itself after kRest.
constexpr size_t kWorthWaking = 1024;
constexpr std::chrono::milliseconds kRest{20};

}  // namespace

TapWriter::TapWriter(Write write, size_t most_waiting)
    : write_(std::move(write)), most_waiting_(most_waiting) {}

TapWriter::~TapWriter() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
    has_events_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void TapWriter::Add(TapEvent event) {
  size_t bytes = event.Bytes();
  std::unique_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { WriteAll(); });
  if (bytes_ > 0 && bytes_ + bytes > most_waiting_) {
    auto began = std::chrono::steady_clock::now();
    wakes_ = true;
    has_events_.notify_one();
    has_room_.wait(lock, [&] { return bytes_ == 0 || bytes_ + bytes <= most_waiting_; });
    waited_ += std::chrono::steady_clock::now() - began;
  }
  bytes_ += bytes;
  events_.push_back(std::move(event));
  if (wakes_ || events_.size() < kWorthWaking) return;
  wakes_ = true;
  has_events_.notify_one();
}

void TapWriter::Drain() {
  std::unique_lock lock(mutex_);
  if (events_.empty() && !is_writing_) return;
  wakes_ = true;
  has_events_.notify_one();
  is_drained_.wait(lock, [&] { return events_.empty() && !is_writing_; });
}

std::chrono::nanoseconds TapWriter::waited() {
  std::lock_guard lock(mutex_);
  return waited_;
}

void TapWriter::WriteAll() {
  std::vector<TapEvent> taken;
  std::unique_lock lock(mutex_);
  for (;;) {
    has_events_.wait_for(lock, kRest, [&] { return wakes_ || ends_; });
    wakes_ = false;
    if (events_.empty()) {
      if (ends_) return;
      continue;
    }
    taken.swap(events_);
    is_writing_ = true;
    lock.unlock();
    for (TapEvent& event : taken) {
      write_(event);
      size_t bytes = event.Bytes();
      event.value = Tensor();
      if (bytes <= sizeof(TapEvent)) continue;
      std::lock_guard relock(mutex_);
      bytes_ -= bytes - sizeof(TapEvent);
      has_room_.notify_all();
    }
    size_t rest = taken.size() * sizeof(TapEvent);
    taken.clear();
    lock.lock();
    bytes_ -= rest;
    is_writing_ = false;
    has_room_.notify_all();
    if (events_.empty()) is_drained_.notify_all();
  }
}

}  // namespace grapnel
