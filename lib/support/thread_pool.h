// Worker threads for parallel loops: one pool per process or session, with a fixed maximum of
// threads.
#ifndef GRAPNEL_LIB_SUPPORT_THREAD_POOL_H_
#define GRAPNEL_LIB_SUPPORT_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "lib/support/public.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

class GRAPNEL_PUBLIC ThreadPool {
 public:
  // `threads` in all, including the caller of ParallelFor; 0 = one per core that this process may
  // use. Starts no thread before there is work for it to do.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return threads_; }

  // Calls body(begin, end) for disjoint ranges that cover [0, total), on this thread and idle
  // workers, and returns when all ranges are done. `cost` is the rough time of one unit of `total`
  // in nanoseconds: work under some 10 microseconds is not split. A call from inside a body runs on
  // the calling thread alone. Rethrows an exception of a body here, once all threads have left the
  // loop.
  void ParallelFor(int64_t total, double cost, llvm::function_ref<void(int64_t, int64_t)> body);

 private:
  struct State;
  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_THREAD_POOL_H_
