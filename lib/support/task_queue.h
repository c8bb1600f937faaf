// Runs tasks one after the other on a thread of its own.
#ifndef GRAPNEL_LIB_SUPPORT_TASK_QUEUE_H_
#define GRAPNEL_LIB_SUPPORT_TASK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "llvm/ADT/FunctionExtras.h"

namespace grapnel {

class TaskQueue {
 public:
  using Task = llvm::unique_function<void()>;

  // `is_threaded`: false: Add runs the task itself. The thread starts with the first task.
  explicit TaskQueue(bool is_threaded) : is_threaded_(is_threaded) {}
  // Runs the tasks that are left.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Adds a task, which must not throw. `weight`: what it holds meanwhile, in any unit. Only one
  // thread may call this and the functions below.
  void Add(Task task, size_t weight = 0);
  // Waits until the tasks that are left weigh at most `most` together.
  void AwaitWeight(size_t most);
  // Waits until no task is left.
  void Await();

 private:
  void Work();

  const bool is_threaded_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Task, size_t>> tasks_;  // with their weights; the first one is running
  size_t weight_ = 0;
  bool is_closed_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_TASK_QUEUE_H_
