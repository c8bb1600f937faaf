// The order in which a plan's nodes run, and on which threads. Private to lib/exec.
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

// The calling thread takes large primitives, which use every core by themselves, and all small
// work; nodes that took long on one thread before, and are ready beside other work, go to a helper.
// A plan without such nodes runs in an order found once, with no queue and no lock.
class Scheduler {
 public:
  // `nodes` come after what they wait for, and outlive the scheduler, as do `helpers`.
  Scheduler(std::vector<PlanNode>& nodes, int threads, HelperThreads& helpers,
            std::function<Error(PlanNode&)> run);

  // Whether a node is better run beside others than after them, by what it last took.
  static bool IsLong(const PlanNode& node);
  // To be told when a node turned out long; any thread.
  void FoundLong() { may_be_long_.store(true, std::memory_order_relaxed); }

  // Whether the next run goes by order(), node after node, on the calling thread; else by Run().
  bool RunsInOrder();
  llvm::ArrayRef<uint32_t> order() const { return order_; }
  // Runs every node once. The first error ends it; what other threads are at is finished.
  Error Run();

 private:
  void Lead();
  bool FindWork();
  void ShareOut();
  void Withdraw();
  static void Help(const HelperThreads::Work& work);
  bool RunOne(uint32_t id, llvm::SmallVectorImpl<uint32_t>* freed);

  std::vector<PlanNode>& nodes_;
  int threads_;
  HelperThreads& helpers_;
  std::function<Error(PlanNode&)> run_;
  std::vector<uint32_t> roots_, order_;
  std::atomic<bool> may_be_long_{false};

  // --- The state of one run.
  std::unique_ptr<std::atomic<uint32_t>[]> waiting_;
  llvm::SmallVector<uint32_t, 32> local_;  // ready, for the leading thread; the last goes first
  std::mutex mutex_;
  std::condition_variable wake_;
  llvm::SmallVector<uint32_t, 8> returned_;  // freed by helpers, for the leading thread
  int away_ = 0;                             // given to helpers and not finished
  std::atomic<size_t> done_{0};
  std::atomic<bool> failed_{false};
  Error error_ = Error::success();
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_SCHEDULER_H_
