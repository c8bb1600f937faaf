#include "lib/serve/http/module/worker_queue.h"

#include <system_error>
#include <utility>

namespace grapnel_http {

bool WorkerQueue::Give(Task task) {
  std::lock_guard lock(mutex_);
  if (stop_ || waiting_.size() >= size_.waiting) return false;
  if (idle_ <= waiting_.size() && threads_.size() < size_.threads) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {  // no more threads can start
      if (threads_.empty()) return false;
    }
  }
  waiting_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

void WorkerQueue::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    --idle_;
    if (stop_) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // destroys the task's captures outside of the lock
    lock.lock();
  }
}

void WorkerQueue::Stop() {
  std::deque<Task> forgotten;
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    forgotten.swap(waiting_);
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace grapnel_http
