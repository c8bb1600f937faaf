// The threads that run the partitions of a graph.
#ifndef GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_
#define GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/support/error.h"

namespace grapnel {

// Partitions are run in steps: one goes on until it must wait for another. Each is stepped by one
// thread at a time. A thread whose partition waits takes the next one that can go on, so two
// partitions that answer each other in turns stay on one thread. Another thread is woken when a
// partition that is ready, or one that is being stepped, took long of late: to wake a thread costs
// some ten microseconds.
class PartitionWorkers {
 public:
  // `step(i)` goes on with partition `i` until it has nothing to do; `stop(i)` tells a partition
  // that may be stepped just then that the run has failed. At most `threads` threads step, the one
  // that calls Run() included.
  PartitionWorkers(int partitions, int threads, HelperThreads& helpers,
                   std::function<Error(int)> step, std::function<void(int)> stop);

  // Steps every partition once, and again those that are woken, until none can go on. The first
  // error ends the run. No step is under way when it returns. One run at a time.
  Error Run();
  // There is something to do for the partition. On any thread. When nothing runs it changes
  // nothing: Run() steps every partition.
  void Wake(int partition);

 private:
  struct Partition {
    enum { kIdle, kReady, kRunning, kRunningAndWoken } state = kIdle;
    int64_t step_time;  // nanoseconds, the longest of late
  };
  bool IsLong(const Partition& partition) const;
  void MakeReady(int partition);
  void CallHelper();
  void StepNext(std::unique_lock<std::mutex>& lock);
  static void Help(const HelperThreads::Work& work);

  const int threads_;
  HelperThreads& helpers_;
  const std::function<Error(int)> step_;
  const std::function<void(int)> stop_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Partition> partitions_;
  std::vector<int> ready_;  // first in, first out; there are few
  int running_ = 0;
  int called_ = 0;  // helpers that were called, whether they have come or not
  bool runs_ = false, leader_waits_ = false;
  bool has_failed_ = false;
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_
