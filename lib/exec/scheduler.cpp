#include "lib/exec/scheduler.h"

#include <thread>

#include "lib/support/denormals.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Worth a wake-up of another thread, which costs some ten microseconds.
constexpr int64_t kWorthAnotherThread = 40000;

}  // namespace

bool Scheduler::Shareable(const PlanNode& node) {
  return node.cost == KernelCost::kElements && node.last_time > kWorthAnotherThread;
}

Scheduler::Scheduler(std::vector<PlanNode>& nodes, int threads, std::function<Error(PlanNode&)> run)
    : nodes_(nodes), threads_(threads), run_(std::move(run)) {
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

bool Scheduler::RunsInOrder() const { return threads_ == 1 || llvm::none_of(nodes_, Shareable); }

Error Scheduler::Run() {
  FlushDenormals flush;
  if (RunsInOrder()) return RunInOrder();
  if (!waiting_) waiting_ = std::make_unique<std::atomic<uint32_t>[]>(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i)
    waiting_[i].store(nodes_[i].waits_for, std::memory_order_relaxed);
  local_.assign(roots_.rbegin(), roots_.rend());
  ready_.clear();
  returned_.clear();
  done_ = 0;
  failed_ = false;
  finished_ = false;
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads_; ++i) helpers.emplace_back([this] { Help(); });
  Lead();
  {
    std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers) helper.join();
  return std::move(error_);
}

Error Scheduler::RunInOrder() {
  for (uint32_t id : order_) RETURN_IF_ERROR(run_(nodes_[id]));
  return Error::success();
}

void Scheduler::Lead() {
  for (;;) {
    ShareOut();
    uint32_t id;
    if (!local_.empty()) {
      id = local_.back();
      local_.pop_back();
    } else {
      std::unique_lock lock(mutex_);
      if (failed_ || done_ == nodes_.size()) break;
      if (ready_.empty() && returned_.empty()) {
        if (busy_ == 0) break;  // what is left waits for what failed
        wake_.wait(lock, [&] { return !ready_.empty() || !returned_.empty() || busy_ == 0; });
      }
      local_.append(returned_.begin(), returned_.end());
      returned_.clear();
      if (local_.empty() && !ready_.empty()) local_.push_back(ready_.pop_back_val());
      continue;
    }
    if (!RunOne(id, &local_)) break;
  }
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return busy_ == 0; });
}

// Gives away what is worth it, if there is other work for this thread.
void Scheduler::ShareOut() {
  if (local_.size() < 2) return;
  bool given = false;
  for (size_t i = 0; i < local_.size() && local_.size() > 1;) {
    if (!Shareable(nodes_[local_[i]])) {
      ++i;
      continue;
    }
    std::lock_guard lock(mutex_);
    ready_.push_back(local_[i]);
    local_.erase(local_.begin() + i);
    given = true;
  }
  if (given) wake_.notify_one();
}

void Scheduler::Help() {
  FlushDenormals flush;
  llvm::SmallVector<uint32_t, 8> freed;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return finished_ || !ready_.empty(); });
    if (finished_) return;
    uint32_t id = ready_.pop_back_val();
    ++busy_;
    lock.unlock();
    freed.clear();
    RunOne(id, &freed);
    lock.lock();
    --busy_;
    returned_.append(freed.begin(), freed.end());
    wake_.notify_all();
  }
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
