// The threads that run the partitions of a graph.
#ifndef GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_
#define GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/support/error.h"

namespace grapnel {

// The least duration, in nanoseconds, of work that is worth another thread: waking a thread costs
// about ten thousand.
constexpr int64_t kWorthAnotherThread = 40000;

// A partition runs in steps: a step continues until the partition must wait for another one. One
// thread at a time runs a step of a partition. A thread whose partition waits takes the next ready
// partition, so two partitions that alternate stay on one thread. Another thread is woken only if a
// recent step of the partition that becomes ready, or of a running one, took long: waking a thread
// costs about ten microseconds.
class PartitionWorkers {
 public:
  // `step(i)` runs one step of partition `i`; `stop(i)` notifies partition `i`, which may be in a
  // step at that time, that the run has failed. At most `threads` threads run steps, including the
  // one that calls Run().
  PartitionWorkers(int partitions, int threads, HelperThreads& helpers,
                   std::function<Error(int)> step, std::function<void(int)> stop);

  // Runs one step of every partition, and another step of a partition after Wake(), until all are
  // idle. The first error ends the run. No step is active when it returns. One run at a time.
  Error Run();
  // Marks a partition as having work. May be called on any thread; has no effect between runs,
  // because Run() begins with a step of every partition.
  void Wake(int partition);

 private:
  struct Partition {
    enum { kIdle, kReady, kRunning, kRunningAndWoken } state = kIdle;
    int64_t step_time;  // nanoseconds, the longest of recent steps
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
  std::vector<int> ready_;  // first in, first out; a vector, because partitions are few
  int running_ = 0;
  int called_ = 0;  // helpers that were called, whether they have started or not
  bool runs_ = false, leader_waits_ = false;
  bool has_failed_ = false;
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITION_WORKERS_H_
