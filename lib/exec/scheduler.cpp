#include "lib/exec/scheduler.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

Error Scheduler::Run() {
  size_t count = plan_.nodes.size();
  if (!waits_) waits_ = std::make_unique<std::atomic<uint32_t>[]>(count);
  for (size_t i = 0; i < count; ++i)
    waits_[i].store(plan_.nodes[i].waits_for, std::memory_order_relaxed);
  local_.assign(plan_.roots.rbegin(), plan_.roots.rend());
  from_helpers_.clear();
  num_done_ = 0;
  failed_ = false;
  Lead();
  Withdraw();
  return std::move(error_);
}

void Scheduler::Lead() {
  for (;;) {
    ShareOut();
    if (local_.empty() && !FindWork()) return;
    uint32_t id = local_.pop_back_val();
    if (!RunOne(id, &local_)) return;
  }
}

// Fills local_ with nodes that became ready when helpers ran others, or that were given to helpers
// and not begun. Returns false at the end of the run.
bool Scheduler::FindWork() {
  for (;;) {
    if (failed_ || num_done_ == plan_.nodes.size()) return false;
    {
      std::lock_guard lock(mutex_);
      local_.append(from_helpers_.begin(), from_helpers_.end());
      from_helpers_.clear();
    }
    if (!local_.empty()) return true;
    std::optional<HelperThreads::Work> mine = helpers_.TakeBack(this);
    std::unique_lock lock(mutex_);
    if (mine) {
      --num_offloaded_;
      local_.push_back(mine->number);
      return true;
    }
    // All nodes have run, or the rest wait for a node that failed.
    if (num_offloaded_ == 0 && from_helpers_.empty()) return false;
    wake_.wait(lock, [&] { return !from_helpers_.empty() || num_offloaded_ == 0; });
  }
}

// Gives helpers the nodes that take long, as long as another ready node remains for this thread.
void Scheduler::ShareOut() {
  for (size_t i = 0; i < local_.size() && local_.size() > 1;) {
    if (!plan_.nodes[local_[i]].IsLong()) {
      ++i;
      continue;
    }
    {
      std::lock_guard lock(mutex_);
      ++num_offloaded_;
    }
    helpers_.Give({&Scheduler::Help, this, local_[i]}, plan_.num_threads() - 1);
    local_.erase(local_.begin() + i);
  }
}

// Takes back the nodes that no helper has begun, and returns when no helper works for this run any
// more.
void Scheduler::Withdraw() {
  while (helpers_.TakeBack(this)) {
    std::lock_guard lock(mutex_);
    --num_offloaded_;
  }
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return num_offloaded_ == 0; });
}

void Scheduler::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<Scheduler*>(work.owner);
  llvm::SmallVector<uint32_t, 32> ready;
  self->RunOne(work.number, &ready);
  // Notify under the lock: once it is released, the scheduler may be destroyed.
  std::lock_guard lock(self->mutex_);
  --self->num_offloaded_;
  self->from_helpers_.append(ready.begin(), ready.end());
  self->wake_.notify_all();
}

// Runs node `id`, and adds the nodes that waited only for it to `ready`. Returns false if the run
// has failed.
bool Scheduler::RunOne(uint32_t id, llvm::SmallVectorImpl<uint32_t>* ready) {
  if (Error error = run_(id)) {
    std::lock_guard lock(mutex_);
    if (!failed_)
      error_ = std::move(error);
    else
      llvm::consumeError(std::move(error));
    failed_ = true;
    return false;
  }
  for (uint32_t reader : llvm::reverse(plan_.nodes[id].readers)) {
    if (waits_[reader].fetch_sub(1, std::memory_order_acq_rel) == 1) ready->push_back(reader);
  }
  num_done_.fetch_add(1, std::memory_order_relaxed);
  return !failed_;
}

}  // namespace grapnel
