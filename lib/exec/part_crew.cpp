#include "lib/exec/part_crew.h"

#include <algorithm>
#include <chrono>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int64_t kWorthAnotherThread = 40000;  // nanoseconds

}  // namespace

PartCrew::PartCrew(int parts, int threads, HelperThreads& helpers, std::function<Error(int)> step,
                   std::function<void(int)> stop)
    : threads_(std::min(parts, threads)),
      helpers_(helpers),
      step_(std::move(step)),
      stop_(std::move(stop)),
      // What has not run yet is taken to be long: a first run must not go one after the other.
      parts_(parts, Part{Part::kIdle, 16 * kWorthAnotherThread}) {}

bool PartCrew::IsLong(const Part& part) const { return part.step_time > kWorthAnotherThread; }

Error PartCrew::Run() {
  std::unique_lock lock(mutex_);
  has_failed_ = false;
  ready_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].state = Part::kReady;
    ready_.push_back(static_cast<int>(i));
    if (i > 0 && IsLong(parts_[i])) CallHelper();
  }
  for (;;) {
    if (!ready_.empty()) {
      StepNext(lock);
    } else if (running_ > 0) {
      leader_waits_ = true;
      changed_.wait(lock);
      leader_waits_ = false;
    } else {
      break;
    }
  }
  // Helpers that have not come need not; the others are about to leave.
  lock.unlock();
  int taken_back = 0;
  while (helpers_.TakeBack(this)) ++taken_back;
  lock.lock();
  called_ -= taken_back;
  changed_.wait(lock, [&] { return called_ == 0; });
  return std::move(error_);
}

void PartCrew::Wake(int part) {
  std::lock_guard lock(mutex_);
  Part& woken = parts_[part];
  if (woken.state == Part::kRunning) woken.state = Part::kRunningAndWoken;
  if (woken.state == Part::kIdle) MakeReady(part);
}

void PartCrew::MakeReady(int part) {
  if (has_failed_) return;
  parts_[part].state = Part::kReady;
  ready_.push_back(part);
  bool is_worth_it = IsLong(parts_[part]) || llvm::any_of(parts_, [&](const Part& other) {
                       return other.state >= Part::kRunning && IsLong(other);
                     });
  if (!is_worth_it) return;
  if (leader_waits_)
    changed_.notify_one();
  else
    CallHelper();
}

void PartCrew::CallHelper() {
  if (called_ + 1 >= threads_) return;
  ++called_;
  helpers_.Give({&PartCrew::Help, this}, threads_ - 1);
}

// One part, as far as it goes.
void PartCrew::StepNext(std::unique_lock<std::mutex>& lock) {
  int number = ready_.front();
  ready_.erase(ready_.begin());
  Part& part = parts_[number];
  part.state = Part::kRunning;
  ++running_;
  lock.unlock();
  auto began = std::chrono::steady_clock::now();
  Error error = step_(number);
  int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  lock.lock();
  --running_;
  part.step_time = std::max(took, part.step_time - part.step_time / 8);
  bool is_woken = part.state == Part::kRunningAndWoken;
  part.state = Part::kIdle;
  if (has_failed_) {
    llvm::consumeError(std::move(error));
  } else if (error) {
    has_failed_ = true;
    error_ = std::move(error);
    ready_.clear();
    lock.unlock();
    for (size_t i = 0; i < parts_.size(); ++i) stop_(static_cast<int>(i));
    lock.lock();
  } else if (is_woken) {
    MakeReady(number);
  }
}

void PartCrew::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<PartCrew*>(work.owner);
  std::unique_lock lock(self->mutex_);
  while (!self->ready_.empty()) self->StepNext(lock);
  --self->called_;
  // Notified under the lock: after it the crew may be gone.
  self->changed_.notify_one();
}

}  // namespace grapnel
