#include "lib/exec/partition_workers.h"

#include <algorithm>
#include <chrono>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

PartitionWorkers::PartitionWorkers(int partitions, int threads, HelperThreads& helpers,
                                   std::function<Error(int)> step, std::function<void(int)> stop)
    : threads_(std::min(partitions, threads)),
      helpers_(helpers),
      step_(std::move(step)),
      stop_(std::move(stop)),
      // Before the first run, the time of every partition counts as long, so that each of them gets
      // a thread if `threads` allows.
      partitions_(partitions, Partition{Partition::kIdle, 16 * kWorthAnotherThread}) {}

bool PartitionWorkers::IsLong(const Partition& partition) const {
  return partition.step_time > kWorthAnotherThread;
}

Error PartitionWorkers::Run() {
  std::unique_lock lock(mutex_);
  runs_ = true;
  has_failed_ = false;
  ready_.clear();
  for (size_t i = 0; i < partitions_.size(); ++i) {
    partitions_[i].state = Partition::kReady;
    ready_.push_back(static_cast<int>(i));
    if (i > 0 && IsLong(partitions_[i])) CallHelper();
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
  runs_ = false;
  // Take back the calls that no helper has started; helpers that have started are about to finish.
  lock.unlock();
  int taken_back = 0;
  while (helpers_.TakeBack(this)) ++taken_back;
  lock.lock();
  called_ -= taken_back;
  changed_.wait(lock, [&] { return called_ == 0; });
  return std::move(error_);
}

void PartitionWorkers::Wake(int partition) {
  std::lock_guard lock(mutex_);
  if (!runs_) return;
  Partition& woken = partitions_[partition];
  if (woken.state == Partition::kRunning) woken.state = Partition::kRunningAndWoken;
  if (woken.state == Partition::kIdle) MakeReady(partition);
}

void PartitionWorkers::MakeReady(int partition) {
  if (has_failed_) return;
  partitions_[partition].state = Partition::kReady;
  ready_.push_back(partition);
  bool is_worth_it =
      IsLong(partitions_[partition]) || llvm::any_of(partitions_, [&](const Partition& other) {
        return other.state >= Partition::kRunning && IsLong(other);
      });
  if (!is_worth_it) return;
  if (leader_waits_)
    changed_.notify_one();
  else
    CallHelper();
}

void PartitionWorkers::CallHelper() {
  if (called_ + 1 >= threads_) return;
  ++called_;
  helpers_.Give({&PartitionWorkers::Help, this}, threads_ - 1);
}

// Takes the next ready partition, and runs one step of it.
void PartitionWorkers::StepNext(std::unique_lock<std::mutex>& lock) {
  int number = ready_.front();
  ready_.erase(ready_.begin());
  Partition& partition = partitions_[number];
  partition.state = Partition::kRunning;
  ++running_;
  lock.unlock();
  auto began = std::chrono::steady_clock::now();
  Error error = step_(number);
  int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  lock.lock();
  --running_;
  partition.step_time = std::max(took, partition.step_time - partition.step_time / 8);
  bool is_woken = partition.state == Partition::kRunningAndWoken;
  partition.state = Partition::kIdle;
  if (has_failed_) {
    llvm::consumeError(std::move(error));
  } else if (error) {
    has_failed_ = true;
    error_ = std::move(error);
    ready_.clear();
    lock.unlock();
    for (size_t i = 0; i < partitions_.size(); ++i) stop_(static_cast<int>(i));
    lock.lock();
  } else if (is_woken) {
    MakeReady(number);
  }
}

void PartitionWorkers::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<PartitionWorkers*>(work.owner);
  std::unique_lock lock(self->mutex_);
  while (!self->ready_.empty()) self->StepNext(lock);
  --self->called_;
  // Notify under the lock: once it is released, this object may be destroyed.
  self->changed_.notify_one();
}

}  // namespace grapnel
