#include "lib/support/task_queue.h"

namespace grapnel {

TaskQueue::~TaskQueue() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TaskQueue::Add(Task task, size_t weight) {
  if (!is_threaded_) return task();
  {
    std::lock_guard lock(mutex_);
    tasks_.emplace_back(std::move(task), weight);
    weight_ += weight;
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
}

void TaskQueue::AwaitWeight(size_t most) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return weight_ <= most; });
}

void TaskQueue::Await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
}

void TaskQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_closed_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto& [task, weight] = tasks_.front();  // stays where it is when tasks are added
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    weight_ -= weight;
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace grapnel
