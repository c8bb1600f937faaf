// Worker threads for parallel loops. The number of threads of a pool is fixed.
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
  // `threads`: the number of threads, including the caller of ParallelFor; 0 means one per core
  // that this process may use. The workers start only when there is work for them.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return threads_; }

  // Calls body(begin, end) for disjoint ranges that cover [0, total), on this thread and on idle
  // workers, and returns when all ranges are done. `cost` is the rough time for one of the `total`
  // units, in nanoseconds: a loop of less than some 10 microseconds runs on this thread alone. So
  // does a call from inside a body, or while another loop of this pool runs. If a body throws,
  // skips the ranges that have not begun, and rethrows the exception here once all threads have
  // left the loop.
  void ParallelFor(int64_t total, double cost, llvm::function_ref<void(int64_t, int64_t)> body);

 private:
  struct State;
  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_THREAD_POOL_H_
