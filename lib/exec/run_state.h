// One run of a plan: the values on their way, and what has run. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_RUN_STATE_H_
#define GRAPNEL_LIB_EXEC_RUN_STATE_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/exec/collectives.h"
#include "lib/exec/frames.h"
#include "lib/exec/plan.h"
#include "lib/exec/run_order.h"
#include "lib/exec/scheduler.h"

namespace grapnel {

// Used by one run at a time and kept for the next one: a later run allocates nothing but results.
//
// A node's inputs lie side by side, so that its kernel runs on them where they are, and the maker
// of a value puts it before each of its readers. Readers are not counted and nothing is looked up.
class RunState : private FrameRunner::Client {
 public:
  // The plan outlives the state.
  explicit RunState(const ExecutionPlan& plan);

  // Takes the feeds and fills `results`, one for each fetch. Errors name the node.
  Error Run(llvm::MutableArrayRef<Tensor> given, llvm::MutableArrayRef<Tensor> results);

  // --- Of one of several partitions, which are run in steps.
  // What the partitions of one run share: where each receives, by its number, and where the members
  // of groups meet. Once, before the first run; outlives the state.
  void Connect(llvm::ArrayRef<Rendezvous*> rendezvous, Collectives& collectives);
  FrameRunner& frames() { return *frames_; }
  Error Begin(llvm::MutableArrayRef<Tensor> given);
  // The results, if no partition has failed. The state is ready for another run then.
  Error Finish(bool has_failed, llvm::MutableArrayRef<Tensor> results);

 private:
  void TakeFeeds(llvm::MutableArrayRef<Tensor> given);
  Error RunNodes();
  Error RunInOrder();
  Error RunOnThreads();
  Error RunWatchedOnThreads();
  Error RunInPlace(uint32_t id);
  Error RunFrames();
  Error CheckFetches() const;
  Error Collect(llvm::MutableArrayRef<Tensor> results);
  void Deliver(Slot slot, Tensor&& value);
  void Clear();
  Error AddMemoryReport(Error error) const;

  // One node.
  Error RunNode(const PlanNode& node);
  Error RunKernel(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs);
  Error RunWatched(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
                   llvm::MutableArrayRef<Tensor> outputs, KernelContext& context);
  Error CallKernel(const PlanNode& node, llvm::ArrayRef<Tensor> outputs, KernelContext& context);
  Error RunIn(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
              llvm::MutableArrayRef<Tensor> outputs, KernelContext& context);
  Error RunMeasured(const PlanNode& node, KernelContext& context, llvm::ArrayRef<Tensor> outputs);
  Error Dereference(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs);

  // What the hook is told.
  Error ReportConstants();
  Error ReportBefore(const PlanNode& node, llvm::ArrayRef<Tensor> inputs);
  Error ReportAfter(const PlanNode& node, llvm::ArrayRef<Tensor> outputs);

  // FrameRunner::Client
  const CancelFlag* cancel() const override { return plan_.options.cancel; }
  bool IsWatched() const override { return plan_.options.hook; }
  Tensor Given(uint32_t node, int input) override;
  Error RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs) override {
    return RunKernel(plan_.nodes[node], inputs, outputs);
  }
  Error Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
               llvm::ArrayRef<Tensor> outputs) override;
  bool IsLong(uint32_t node) override { return plan_.nodes[node].IsLong(); }
  void Result(uint32_t node, int port, const Tensor& value) override;
  bool Send(uint32_t node, Message message) override;
  Error Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Message answer) override;
  int StuckRank(uint32_t node) override;
  Error WhyStuck(uint32_t node) override;

  const ExecutionPlan& plan_;
  std::unique_ptr<Tensor[]> inputs_;      // of all nodes, then the fetches
  std::unique_ptr<Tensor[]> values_;      // by slot, while its node runs
  std::unique_ptr<Scheduler> scheduler_;  // made when it is first needed
  // Where the run is that a hook watches: nodes on other threads are in the same call.
  const CallFrame* call_ = nullptr;
  std::vector<uint32_t> positions_;  // by node: place in the plan's order
  RunOrder order_;
  std::unique_ptr<FrameRunner> frames_;  // of a plan with frames
  std::vector<Rendezvous*> rendezvous_;  // by partition
  std::unique_ptr<Collectives> own_collectives_;
  Collectives* collectives_ = nullptr;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RUN_STATE_H_
