// Threads that run whole nodes for the thread that runs a plan. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_HELPER_THREADS_H_
#define GRAPNEL_LIB_EXEC_HELPER_THREADS_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lib/support/public.h"

namespace grapnel {

// A set of helper threads. Each session (lib/exec/session.h) has one set, which its plans and those
// of called functions share. Threads start when there is work for them and are kept, since starting
// one costs more than most nodes. Thread-safe.
class GRAPNEL_PUBLIC HelperThreads {
 public:
  struct Work {
    void (*run)(const Work&);
    void* owner;
    // Identifies the work item to its owner.
    uint32_t number = 0;
    void* item = nullptr;
  };

  HelperThreads() = default;
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;
  // All work must be done or taken back before the destructor runs.
  ~HelperThreads();

  // Queues work for the first idle thread; starts threads until there are `threads` of them. Apart
  // from starting threads, allocates only when the queue grows longer than it ever was.
  void Give(const Work& work, int threads);
  // Removes and returns a work item of this owner that no thread has begun; nullopt if there is
  // none.
  std::optional<Work> TakeBack(const void* owner);

 private:
  void Help();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Work> queue_;  // last in, first out: the inputs of the last are still in the caches
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_HELPER_THREADS_H_
