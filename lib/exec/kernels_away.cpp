#include "lib/exec/kernels_away.h"

namespace grapnel {

void KernelsAway::Send(Flight* flight) {
  ++count_;
  helpers_.Give({&KernelsAway::Help, this, 0, flight}, threads_ - 1);
}

llvm::ArrayRef<KernelsAway::Flight*> KernelsAway::Back(bool wait) {
  landed_.clear();
  if (!wait && !any_back_.load(std::memory_order_relaxed)) return landed_;
  std::unique_lock lock(mutex_);
  if (wait) wake_.wait(lock, [&] { return !back_.empty(); });
  std::swap(landed_, back_);
  any_back_.store(false, std::memory_order_relaxed);
  count_ -= static_cast<int>(landed_.size());
  return landed_;
}

KernelsAway::Flight* KernelsAway::TakeBack() {
  std::optional<HelperThreads::Work> work = helpers_.TakeBack(this);
  if (!work) return nullptr;
  --count_;
  return static_cast<Flight*>(work->item);
}

void KernelsAway::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<KernelsAway*>(work.owner);
  auto* flight = static_cast<Flight*>(work.item);
  self->runner_(self->owner_, flight);
  // Notified under the lock: after it the owner may be gone.
  std::lock_guard lock(self->mutex_);
  self->back_.push_back(flight);
  self->any_back_.store(true, std::memory_order_relaxed);
  self->wake_.notify_one();
}

}  // namespace grapnel
