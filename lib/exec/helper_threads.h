// Threads that help the one that runs a plan: they run whole nodes. Private to lib/exec.
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

// One set a session (lib/exec/session.h), shared by all its plans and those of the functions that
// they call: threads are started when there is first work for them and kept, since starting one
// costs more than most nodes. Thread-safe.
class GRAPNEL_PUBLIC HelperThreads {
 public:
  struct Work {
    void (*run)(const Work&);
    void* owner;
    // For the owner, to tell its works apart.
    uint32_t number = 0;
    void* item = nullptr;
  };

  HelperThreads() = default;
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;
  // All work must have been done or taken back.
  ~HelperThreads();

  // Queues work for the first thread that is free; starts threads while there are fewer than
  // `threads`. No allocation once the queue has been as long before.
  void Give(const Work& work, int threads);
  // Removes work of this owner that no thread has begun; nullopt: there is none.
  std::optional<Work> TakeBack(const void* owner);

 private:
  void Help();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Work> queue_;  // the last goes first: its inputs are still in the caches
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_HELPER_THREADS_H_
