#include "lib/exec/offloaded_kernels.h"

namespace grapnel {

void OffloadedKernels::Start(Call* call) {
  ++count_;
  helpers_.Give({&OffloadedKernels::Help, this, 0, call}, threads_ - 1);
}

llvm::ArrayRef<OffloadedKernels::Call*> OffloadedKernels::TakeFinished(bool wait) {
  taken_.clear();
  if (!wait && !any_finished_.load(std::memory_order_relaxed)) return taken_;
  std::unique_lock lock(mutex_);
  if (wait) wake_.wait(lock, [&] { return !finished_.empty(); });
  std::swap(taken_, finished_);
  any_finished_.store(false, std::memory_order_relaxed);
  count_ -= static_cast<int>(taken_.size());
  return taken_;
}

OffloadedKernels::Call* OffloadedKernels::TakeBack() {
  std::optional<HelperThreads::Work> work = helpers_.TakeBack(this);
  if (!work) return nullptr;
  --count_;
  return static_cast<Call*>(work->item);
}

void OffloadedKernels::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<OffloadedKernels*>(work.owner);
  auto* call = static_cast<Call*>(work.item);
  self->runner_(self->owner_, call);
  // Notify under the lock: once it is released, the owner may destroy this object.
  std::lock_guard lock(self->mutex_);
  self->finished_.push_back(call);
  self->any_finished_.store(true, std::memory_order_relaxed);
  self->wake_.notify_one();
}

}  // namespace grapnel
