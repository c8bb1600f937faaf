// What an executor holds: made in compile.cpp, run in executor.cpp. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_
#define GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_

#include "lib/exec/collectives.h"
#include "lib/exec/device_lane.h"
#include "lib/exec/executor.h"
#include "lib/exec/frames.h"
#include "lib/exec/plan.h"
#include "lib/exec/scheduler.h"
#include "lib/exec/session.h"

namespace grapnel {

struct SlotInfo {
  Tensor constant;  // set: the same in every run
  bool is_reference = false;
  DeviceLane* lane = nullptr;  // of the memory that it is in; null: the host's
  // Who reads it: the arrivals [first_target, end_target) of Impl::targets.
  uint32_t first_target = 0, end_target = 0;
};

struct Executor::Impl : FrameRunner::Client {
  const Graph* graph = nullptr;
  ExecutorOptions options;
  std::unique_ptr<Session> own_session;
  std::unique_ptr<Allocator> allocator;
  std::optional<RunServices> services;  // of the CPU's kernels
  std::vector<std::unique_ptr<DeviceLane>> lanes;
  PlanSpread spread;
  std::vector<PlanNode> nodes;
  std::vector<SlotInfo> slots;
  struct Feed {
    Slot slot;
    Node node;
    DataType dtype;              // DT_INVALID: the caller has checked
    std::optional<Shape> shape;  // set: what a Placeholder expects
  };
  std::vector<Feed> feeds;
  std::vector<Slot> fetch_slots;  // kNoSlot: a node without outputs
  std::vector<std::pair<Node, Slot>> hooked_constants;
  std::vector<uint32_t> targets;  // SlotInfo's
  // By arrival: the constant that lies there in every run; kNoSlot: what a node puts out.
  std::vector<Slot> lasting;
  uint32_t first_fetch = 0;  // arrival of the first fetch; the others follow
  bool told_constants = false;
  bool has_references = false;     // inputs may be variables that stand for their values
  bool feeds_are_checked = false;  // by the caller

  // --- The state of one run.
  // Values on their way: a node's inputs lie side by side, so that it runs on them where they are,
  // and whoever makes a value puts it before each of its readers. Nobody counts readers, and
  // nothing is looked up.
  std::unique_ptr<Tensor[]> arrivals;
  std::unique_ptr<Tensor[]> values;  // by slot, while its node runs
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<FrameRunner> frames;  // instead, of a graph with Switch, Merge or loops

  // By node, of a kSend: who receives what it sends.
  struct Receiver {
    Mailbox* mailbox = nullptr;  // null: nobody
    uint32_t node = 0;
  };
  std::vector<Receiver> receivers;
  std::vector<bool> has_sender;                  // by node, of a kRecv
  Collectives* collectives = nullptr;            // of all parts
  std::unique_ptr<Collectives> own_collectives;  // of one that is no part
  uint64_t number = 0;                           // among the parts

  // Finds the receivers of all sends of some parts (or of one graph), by the attributes that both
  // ends have. Errors: a name that two send; ends of different dtypes.
  static Error LinkTransfers(llvm::ArrayRef<Impl*> parts);
  // The node that sends what a _Recv of the same graph receives, by id of the _Recv.
  static llvm::DenseMap<NodeId, NodeId> SendersIn(const Graph& graph);
  void LinkArrivals();
  Error Run(llvm::MutableArrayRef<Tensor> given, llvm::MutableArrayRef<Tensor> results);
  // A run of a part in steps (FrameRunner's); the results are there after Finish().
  Error Begin(llvm::MutableArrayRef<Tensor> given);
  Error Finish(bool has_failed, llvm::MutableArrayRef<Tensor> results);
  void TakeFeeds(llvm::MutableArrayRef<Tensor> given);
  Error RunPlan(llvm::MutableArrayRef<Tensor> results);
  Error RunInOrder();
  Error RunFrames();
  Error CheckFetches() const;
  Error TellConstants();
  Error Collect(llvm::MutableArrayRef<Tensor> results);
  Error RunNode(PlanNode& plan);
  Error RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs);
  Error RunIn(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs, llvm::ArrayRef<Tensor> outputs,
              KernelContext& context);
  Error RunMeasured(PlanNode& plan, KernelContext& context, llvm::ArrayRef<Tensor> outputs);
  Error Dereference(const PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs);
  RunServices ServicesOn(const PlanNode& plan) const;
  Error TellBefore(const PlanNode& plan, llvm::ArrayRef<Tensor> inputs);
  Error TellAfter(PlanNode& plan, llvm::ArrayRef<Tensor> outputs);
  void Deliver(Slot slot, Tensor&& value);  // leaves it empty
  void Clear();
  Error CheckFeeds(llvm::ArrayRef<Tensor> values) const;
  std::string NameOfFetch(size_t i) const {
    return i < options.fetches.size() ? options.fetches[i] : "result " + std::to_string(i);
  }

  // FrameRunner::Client
  Tensor Given(uint32_t node, int input) override;
  Error RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs) override;
  Error Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
               llvm::ArrayRef<Tensor> outputs) override;
  bool IsLong(uint32_t node) override { return Scheduler::IsLong(nodes[node]); }
  void Result(uint32_t node, int port, const Tensor& value) override;
  bool Send(uint32_t node, Parcel parcel) override;
  Error Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Parcel answer) override;
  int StuckRank(uint32_t node) override;
  Error WhyStuck(uint32_t node) override;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_
