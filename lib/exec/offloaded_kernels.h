// Kernels that helper threads run for the leader, the thread that schedules the run.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_
#define GRAPNEL_LIB_EXEC_OFFLOADED_KERNELS_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"

namespace grapnel {

// Kernel calls that helper threads run. One thread, the leader, starts the calls and takes their
// outputs.
class OffloadedKernels {
 public:
  struct Call {
    std::vector<Tensor> outputs;
    Error error = Error::success();
  };
  // Runs the call's kernel and stores outputs and error in `call`; on any thread.
  using Runner = void (*)(void* owner, Call* call);

  // At most `threads` threads run kernels, including the leader. `helpers` must outlive this
  // object.
  OffloadedKernels(HelperThreads& helpers, int threads, Runner runner, void* owner)
      : helpers_(helpers), threads_(threads), runner_(runner), owner_(owner) {}

  // --- For the leader only.
  // Returns the number of calls that Start() started and TakeFinished() and TakeBack() have not
  // returned yet.
  int count() const { return count_; }
  void Start(Call* call);
  // Returns the kernel calls that have finished since TakeFinished() was last called; the array is
  // valid until it is called again. With `wait`, waits until at least one has finished.
  llvm::ArrayRef<Call*> TakeFinished(bool wait);
  // Takes a kernel call that no helper has begun, so that the leader can run it; null if there is
  // none.
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
