// Runs the nodes of a plan on several threads. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_SCHEDULER_H_
#define GRAPNEL_LIB_EXEC_SCHEDULER_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "lib/exec/helper_threads.h"
#include "lib/exec/plan.h"

namespace grapnel {

// Schedules one run at a time. The calling thread runs all short nodes, and the kernels that use
// every core by themselves (KernelCost::kWide). Helper threads run nodes that took long on one
// thread in earlier runs, if another node is ready for the calling thread. A plan without long
// nodes needs no scheduler: RunState runs its nodes in ExecutionPlan::order.
class Scheduler {
 public:
  // `run` runs one node, on any thread; `plan` and `helpers` must outlive the scheduler.
  Scheduler(const ExecutionPlan& plan, HelperThreads& helpers, std::function<Error(uint32_t)> run)
      : plan_(plan), helpers_(helpers), run_(std::move(run)) {}

  // Runs every node once. The first error ends the run, once the nodes that other threads are
  // running have finished.
  Error Run();

 private:
  void Lead();
  bool FindWork();
  void ShareOut();
  void Withdraw();
  static void Help(const HelperThreads::Work& work);
  bool RunOne(uint32_t id, llvm::SmallVectorImpl<uint32_t>* ready);

  const ExecutionPlan& plan_;
  HelperThreads& helpers_;
  std::function<Error(uint32_t)> run_;
  std::unique_ptr<std::atomic<uint32_t>[]> waits_;  // by node: number of edges it still waits for
  llvm::SmallVector<uint32_t, 32> local_;           // ready nodes for the calling thread, a stack
  std::mutex mutex_;
  std::condition_variable wake_;
  llvm::SmallVector<uint32_t, 8> from_helpers_;  // ready after helpers ran their inputs
  int num_offloaded_ = 0;                        // given to helpers and not finished
  std::atomic<size_t> num_done_{0};
  std::atomic<bool> failed_{false};
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SCHEDULER_H_
