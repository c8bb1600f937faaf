#include "lib/exec/scheduler.h"

#include "lib/support/denormals.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Worth a wake-up of another thread, which costs some ten microseconds.
constexpr int64_t kWorthAnotherThread = 40000;

}  // namespace

bool Scheduler::IsLong(const PlanNode& node) {
  return node.cost == KernelCost::kElements && node.last_time > kWorthAnotherThread;
}

Scheduler::Scheduler(std::vector<PlanNode>& nodes, int threads, HelperThreads& helpers,
                     std::function<Error(PlanNode&)> run)
    : nodes_(nodes), threads_(threads), helpers_(helpers), run_(std::move(run)) {
  // What was freed last goes first: its inputs are still in the caches, and their memory comes back
  // soonest.
  std::vector<uint32_t> waits_for;
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    waits_for.push_back(nodes_[id].waits_for);
    if (waits_for[id] == 0) roots_.push_back(id);
  }
  std::vector<uint32_t> ready(roots_.rbegin(), roots_.rend());
  while (!ready.empty()) {
    uint32_t id = ready.back();
    ready.pop_back();
    order_.push_back(id);
    for (uint32_t reader : llvm::reverse(nodes_[id].readers)) {
      if (--waits_for[reader] == 0) ready.push_back(reader);
    }
  }
}

bool Scheduler::RunsInOrder() {
  if (threads_ == 1 || !may_be_long_.load(std::memory_order_relaxed)) return true;
  bool any = llvm::any_of(nodes_, IsLong);
  may_be_long_.store(any, std::memory_order_relaxed);
  return !any;
}

Error Scheduler::Run() {
  if (!waiting_) waiting_ = std::make_unique<std::atomic<uint32_t>[]>(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i)
    waiting_[i].store(nodes_[i].waits_for, std::memory_order_relaxed);
  local_.assign(roots_.rbegin(), roots_.rend());
  returned_.clear();
  done_ = 0;
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

// More for local_: what helpers have freed, or have not begun. False: the run is over.
bool Scheduler::FindWork() {
  for (;;) {
    if (failed_ || done_ == nodes_.size()) return false;
    {
      std::lock_guard lock(mutex_);
      local_.append(returned_.begin(), returned_.end());
      returned_.clear();
    }
    if (!local_.empty()) return true;
    std::optional<HelperThreads::Work> mine = helpers_.TakeBack(this);
    std::unique_lock lock(mutex_);
    if (mine) {
      --away_;
      local_.push_back(mine->number);
      return true;
    }
    if (away_ == 0 && returned_.empty())
      return false;  // done, or what is left waits for what failed
    wake_.wait(lock, [&] { return !returned_.empty() || away_ == 0; });
  }
}

// Gives away what is worth it, if there is other work for this thread.
void Scheduler::ShareOut() {
  for (size_t i = 0; i < local_.size() && local_.size() > 1;) {
    if (!IsLong(nodes_[local_[i]])) {
      ++i;
      continue;
    }
    {
      std::lock_guard lock(mutex_);
      ++away_;
    }
    helpers_.Give({&Scheduler::Help, this, local_[i]}, threads_ - 1);
    local_.erase(local_.begin() + i);
  }
}

// No helper is at this run any more.
void Scheduler::Withdraw() {
  while (helpers_.TakeBack(this)) {
    std::lock_guard lock(mutex_);
    --away_;
  }
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return away_ == 0; });
}

void Scheduler::Help(const HelperThreads::Work& work) {
  auto* self = static_cast<Scheduler*>(work.owner);
  llvm::SmallVector<uint32_t, 32> freed;
  self->RunOne(work.number, &freed);
  // Notified under the lock: after it the scheduler may be gone.
  std::lock_guard lock(self->mutex_);
  --self->away_;
  self->returned_.append(freed.begin(), freed.end());
  self->wake_.notify_all();
}

// False when the run has failed.
bool Scheduler::RunOne(uint32_t id, llvm::SmallVectorImpl<uint32_t>* freed) {
  PlanNode& node = nodes_[id];
  if (Error error = run_(node)) {
    std::lock_guard lock(mutex_);
    if (!failed_)
      error_ = std::move(error);
    else
      llvm::consumeError(std::move(error));
    failed_ = true;
    return false;
  }
  for (uint32_t reader : llvm::reverse(node.readers)) {
    if (waiting_[reader].fetch_sub(1, std::memory_order_acq_rel) == 1) freed->push_back(reader);
  }
  done_.fetch_add(1, std::memory_order_relaxed);
  return !failed_;
}

}  // namespace grapnel
