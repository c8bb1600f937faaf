// A few threads, and a bounded queue of tasks for them.
#ifndef GRAPNEL_LIB_SERVE_HTTP_MODULE_WORKER_QUEUE_H_
#define GRAPNEL_LIB_SERVE_HTTP_MODULE_WORKER_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/serve/http/module/limits.h"

namespace grapnel_http {

class WorkerQueue {
 public:
  using Task = std::function<void()>;

  explicit WorkerQueue(WorkerQueueSize size) : size_(size) {}
  ~WorkerQueue() { Stop(); }
  // Queues a task, which must not throw; returns false if the queue is full, or if there is no
  // thread and none can be started. Starts threads as needed.
  bool Give(Task task);
  // Drops waiting tasks, and returns when running tasks are done. Give() accepts no tasks after
  // that.
  void Stop();

 private:
  void Work();

  const WorkerQueueSize size_;
  std::mutex mutex_;  // guards the members below, except when joining the threads
  std::condition_variable wake_;
  std::deque<Task> waiting_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stop_ = false;
};

}  // namespace grapnel_http

#endif  // GRAPNEL_LIB_SERVE_HTTP_MODULE_WORKER_QUEUE_H_
