// Kernels that helpers run for one thread, which decides what comes next. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_
#define GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"

namespace grapnel {

// Calls of kernels that helpers run. One thread starts them and takes them back.
class OffloadedKernels {
 public:
  struct Call {
    std::vector<Tensor> outputs;
    Error error = Error::success();
  };
  // Runs the call's kernel and stores what came of it; on any thread.
  using Runner = void (*)(void* owner, Call* call);

  // At most `threads` run kernels, the one that decides included. `helpers` outlive it.
  OffloadedKernels(HelperThreads& helpers, int threads, Runner runner, void* owner)
      : helpers_(helpers), threads_(threads), runner_(runner), owner_(owner) {}

  // --- For the thread that decides alone.
  // Calls that were started and not taken, by TakeFinished() or TakeBack().
  int count() const { return count_; }
  void Start(Call* call);
  // Calls that have finished since it was asked last, valid until it is asked again. With `wait` it
  // waits until there is one.
  llvm::ArrayRef<Call*> TakeFinished(bool wait);
  // A call that no helper has begun; null: there is none.
  Call* TakeBack();

 private:
  static void Help(const HelperThreads::Work& work);

  HelperThreads& helpers_;
  int threads_;
  Runner runner_;
  void* owner_;
  int count_ = 0;
  std::vector<Call*> taken_;  // what TakeFinished() returned
  std::atomic<bool> any_finished_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Call*> finished_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_
