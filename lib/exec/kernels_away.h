// Kernels that helpers run for one thread, which decides what comes next. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_KERNELS_AWAY_H_
#define GRAPNEL_LIB_EXEC_KERNELS_AWAY_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "lib/exec/helper_threads.h"
#include "lib/exec/tensor.h"

namespace grapnel {

class KernelsAway {
 public:
  struct Flight {
    std::vector<Tensor> outputs;
    Error error = Error::success();
  };
  // Runs the flight's kernel and stores what came of it; on any thread.
  using Runner = void (*)(void* owner, Flight* flight);

  // At most `threads` run kernels, the one that decides included. `helpers` outlive it.
  KernelsAway(HelperThreads& helpers, int threads, Runner runner, void* owner)
      : helpers_(helpers), threads_(threads), runner_(runner), owner_(owner) {}

  // --- For the thread that decides alone.
  int count() const { return count_; }  // sent, and neither back nor taken back
  void Send(Flight* flight);
  // Those that came back since the last call; valid until the next one. With `wait` at least one.
  llvm::ArrayRef<Flight*> Back(bool wait);
  // One that no helper has begun; null: there is none.
  Flight* TakeBack();

 private:
  static void Help(const HelperThreads::Work& work);

  HelperThreads& helpers_;
  int threads_;
  Runner runner_;
  void* owner_;
  int count_ = 0;
  std::vector<Flight*> landed_;
  std::atomic<bool> any_back_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Flight*> back_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_KERNELS_AWAY_H_
