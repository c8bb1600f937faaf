// One run of a plan: the values in flight, and the nodes that have run. Private to lib/exec.
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

// Used by one run at a time and reused for the next: a later run allocates little beside the values
// of the fetches.
//
// The inputs of a node are adjacent, so that its kernel uses them in place. The producer of a value
// stores a reference to it in the inputs of each reader, so no count of readers and no look-up are
// needed.
class RunState : private FrameRunner::Client {
 public:
  // The plan must outlive the state.
  explicit RunState(const ExecutionPlan& plan);

  // Moves the feeds in and fills `results`, one for each fetch. Errors of kernels name the node.
  Error Run(llvm::MutableArrayRef<Tensor> given, llvm::MutableArrayRef<Tensor> results);

  // --- For one of several partitions, which run in steps.
  // Sets the objects that the partitions of one run share: the rendezvous of each partition, by its
  // index, and the meeting point of collective groups. Call it once, before the first run; these
  // objects must outlive the state.
  void Connect(llvm::ArrayRef<Rendezvous*> rendezvous, Collectives& collectives);
  FrameRunner& frames() { return *frames_; }
  Error Begin(llvm::MutableArrayRef<Tensor> given);
  // Stores the values of the fetches in `results` if no partition has failed. The state is ready
  // for another run afterwards.
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

  // Reports to the hook.
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
  std::unique_ptr<Tensor[]> inputs_;      // inputs of all nodes, then the fetches
  std::unique_ptr<Tensor[]> values_;      // by slot: outputs of running nodes; with frames: feeds
  std::unique_ptr<Scheduler> scheduler_;  // made on first use
  // In a run that a hook observes: the call frame in which the plan runs, for nodes on other
  // threads.
  const CallFrame* call_ = nullptr;
  std::vector<uint32_t> positions_;  // by node: its position in ExecutionPlan::order
  RunOrder order_;
  std::unique_ptr<FrameRunner> frames_;  // for a plan with frames
  std::vector<Rendezvous*> rendezvous_;  // by partition
  std::unique_ptr<Collectives> own_collectives_;
  Collectives* collectives_ = nullptr;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_RUN_STATE_H_
