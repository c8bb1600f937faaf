// Runs the parts of something, each of which goes on until it must wait for another, on as many
// threads as are of use.
#ifndef GRAPNEL_LIB_EXEC_PART_CREW_H_
#define GRAPNEL_LIB_EXEC_PART_CREW_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/support/error.h"

namespace grapnel {

// A part is stepped by one thread at a time. A thread whose part waits takes the next that can go
// on, so two parts that answer each other in turns stay on one thread; another is woken when a part
// that has become ready, or one that is at work, took long of late (waking costs some ten
// microseconds).
class PartCrew {
 public:
  // `step(part)` goes on with a part until it has nothing to do; `stop(part)` tells one that may be
  // at work that the run has failed. At most `threads` step, the one that calls Run() included.
  PartCrew(int parts, int threads, HelperThreads& helpers, std::function<Error(int)> step,
           std::function<void(int)> stop);

  // Steps every part once, and again those that were woken, until none can go on. The first error
  // ends it. No step is under way when it returns.
  Error Run();
  // There is something for the part to do. Any thread, while Run() has not returned.
  void Wake(int part);

 private:
  struct Part {
    enum { kIdle, kReady, kRunning, kRunningAndWoken } state = kIdle;
    int64_t step_time;  // nanoseconds, the longest of late
  };
  bool IsLong(const Part& part) const;
  void MakeReady(int part);
  void CallHelper();
  void StepNext(std::unique_lock<std::mutex>& lock);
  static void Help(const HelperThreads::Work& work);

  const int threads_;
  HelperThreads& helpers_;
  const std::function<Error(int)> step_;
  const std::function<void(int)> stop_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Part> parts_;
  std::vector<int> ready_;  // first in, first out; there are few
  int running_ = 0;
  int called_ = 0;  // helpers, come or yet to come
  bool leader_waits_ = false;
  bool has_failed_ = false;
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PART_CREW_H_
