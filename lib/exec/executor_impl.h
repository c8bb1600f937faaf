// What an executor holds: made in compile.cpp, run in executor.cpp. For lib/exec only.
#ifndef GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_
#define GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_

#include <atomic>

#include "lib/exec/device_lane.h"
#include "lib/exec/executor.h"
#include "lib/exec/frames.h"
#include "lib/exec/plan.h"
#include "lib/exec/scheduler.h"
#include "lib/exec/session.h"

namespace grapnel {

struct SlotInfo {
  int readers = 0;  // data inputs and fetches
  Tensor constant;  // set: the same in every run
  bool is_reference = false;
  DeviceLane* lane = nullptr;  // of the memory that it is in; null: the host's
};

struct Executor::Impl {
  const Graph* graph = nullptr;
  ExecutorOptions options;
  std::unique_ptr<Session> own_session;
  std::unique_ptr<Allocator> allocator;
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
  std::vector<Slot> fetch_slots;       // kNoSlot: a node without outputs
  std::vector<uint8_t> fetch_is_last;  // by fetch: nobody reads the slot after it
  std::vector<std::pair<Node, Slot>> hooked_constants;

  // --- The state of one run.
  std::unique_ptr<Tensor[]> values;
  std::unique_ptr<std::atomic<int>[]> readers_left;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<FrameRunner> frames;  // instead, of a graph with Switch, Merge or loops
  std::vector<bool> is_fetched;         // by slot
  // Nodes run in the scheduler's order: who reads a slot last is known, and nobody counts.
  bool in_order = false;

  void FindLastReads();
  Error Run(llvm::MutableArrayRef<Tensor> given, llvm::MutableArrayRef<Tensor> results);
  Error RunPlan(llvm::MutableArrayRef<Tensor> results);
  Error Collect(llvm::MutableArrayRef<Tensor> results);
  Error RunNode(PlanNode& plan);
  Error RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs);
  RunServices ServicesFor(const PlanNode& plan) const;
  Error TellBefore(const PlanNode& plan, llvm::ArrayRef<Tensor> inputs);
  Error TellAfter(const PlanNode& plan, llvm::ArrayRef<Tensor> outputs);
  Error RunFrames();
  Tensor Take(Slot slot, bool is_last);
  Error CheckFeeds(llvm::ArrayRef<Tensor> values) const;
  std::string NameOfFetch(size_t i) const {
    return i < options.fetches.size() ? options.fetches[i] : "result " + std::to_string(i);
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_EXECUTOR_IMPL_H_
