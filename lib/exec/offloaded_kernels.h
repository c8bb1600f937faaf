// Kernels that helpers run for the thread that makes the decisions. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_
#define GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"

namespace grapnel {

// Kernel calls that helpers run. One thread, the leader, starts them and takes the results.
class OffloadedKernels {
 public:
  struct Call {
    std::vector<Tensor> outputs;
    Error error = Error::success();
  };
  // Runs the call's kernel and stores the result; on any thread.
  using Runner = void (*)(void* owner, Call* call);

  // At most `threads` threads run kernels, including the leader. `helpers` must outlive this
  // object.
  OffloadedKernels(HelperThreads& helpers, int threads, Runner runner, void* owner)
      : helpers_(helpers), threads_(threads), runner_(runner), owner_(owner) {}

  // --- For the leader only.
  // The number of calls that were started and not returned by TakeFinished() or TakeBack().
  int count() const { return count_; }
  void Start(Call* call);
  // Returns the calls that have finished since the last call, valid until the next call. With
  // `wait` it waits until there is one.
  llvm::ArrayRef<Call*> TakeFinished(bool wait);
  // Returns a call that no helper has begun; null if all have begun.
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
