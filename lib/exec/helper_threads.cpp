#include "lib/exec/helper_threads.h"

#include "lib/support/denormals.h"

namespace grapnel {

HelperThreads::~HelperThreads() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HelperThreads::Give(const Work& work, int threads) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(work);
    while (static_cast<int>(threads_.size()) < threads) threads_.emplace_back([this] { Help(); });
  }
  wake_.notify_one();
}

std::optional<HelperThreads::Work> HelperThreads::TakeBack(const void* owner) {
  std::lock_guard lock(mutex_);
  for (size_t i = queue_.size(); i-- > 0;) {
    if (queue_[i].owner != owner) continue;
    Work work = queue_[i];
    queue_.erase(queue_.begin() + i);
    return work;
  }
  return std::nullopt;
}

void HelperThreads::Help() {
  FlushDenormals flush;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    Work work = queue_.back();
    queue_.pop_back();
    lock.unlock();
    work.run(work);
    lock.lock();
  }
}

}  // namespace grapnel
