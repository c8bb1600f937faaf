// A plan: all that is known of running a graph before it runs. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_PLAN_H_
#define GRAPNEL_LIB_EXEC_PLAN_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/bound_kernel.h"
#include "lib/exec/device_lane.h"
#include "lib/exec/executor.h"
#include "lib/exec/frame_plan.h"
#include "lib/exec/session.h"

namespace grapnel {

using Slot = uint32_t;  // one output of one node
constexpr Slot kNoSlot = ~Slot{0};

// What the runs of a plan find out about a node. Relaxed: a time that is one run old is as good.
struct NodeStats {
  // Nanoseconds that it last took: says whether another thread is worth waking for it.
  std::atomic<int64_t> last_time{0};
  std::atomic<uint32_t> num_runs{0};
  std::atomic<bool> is_reported{false};  // a constant that the hook has seen
};

struct PlanNode {
  // Whether another thread is worth waking for the node, by the time that it last took.
  bool IsLong() const;
  bool Keeps(size_t i) const { return i < 32 && (kept_inputs >> i & 1); }

  Node node;
  FlowKind flow = FlowKind::kKernel;
  BoundKernel kernel;
  KernelCost cost = KernelCost::kCheap;
  llvm::SmallVector<Slot, 4> inputs;
  uint32_t first_input = 0;                    // its inputs in RunState::inputs_, side by side
  llvm::SmallVector<DataType, 4> input_types;  // DT_INVALID: any, and references stay references
  llvm::SmallVector<DataType, 2> output_types;
  Slot first_output = 0;
  llvm::SmallVector<uint32_t, 4> readers;  // nodes that wait for this one, once for each edge
  uint32_t waits_for = 0;                  // edges from nodes that this one waits for
  uint32_t kept_inputs = 0;  // bits: constants that the kernel keeps itself (KernelDef::keeps)
  bool hooked = false;
  bool puts_references = false;
  // A constant that runs like a node, because it is dead in a branch that is not taken.
  bool is_constant = false;
  DeviceLane* lane = nullptr;              // null: the CPU, as are copies to and from a device
  llvm::SmallVector<int, 1> host_outputs;  // KernelDef's
  NodeStats* stats = nullptr;              // PlanStats'
  // All nodes whose work it does, the last of which is `node`; empty: that one alone
  // (lib/exec/fusion.h).
  std::vector<Node> stands_for;
};

struct SlotInfo {
  Tensor constant;  // set: the same in every run
  bool is_reference = false;
  DeviceLane* lane = nullptr;  // whose memory it is in; null: the host's
  // The inputs that read it: [first_target, end_target) of ExecutionPlan::targets.
  uint32_t first_target = 0, end_target = 0;
};

// What all runs of a plan share, beside the plan itself. The only part of it that changes.
struct PlanStats {
  explicit PlanStats(size_t num_nodes) : nodes(std::make_unique<NodeStats[]>(num_nodes)) {}

  std::unique_ptr<NodeStats[]> nodes;
  std::atomic<bool> may_have_long_nodes{false};
  std::atomic<bool> has_reported_constants{false};  // the hook has seen hooked_constants
};

// Made by PlanBuilder and not changed afterwards: any number of RunStates read it at the same time,
// without a lock. A kernel that keeps something from run to run locks it itself.
struct ExecutionPlan {
  const Graph* graph = nullptr;
  ExecutorOptions options;
  std::unique_ptr<Session> own_session;
  std::unique_ptr<Allocator> allocator;
  std::optional<RunServices> services;  // of kernels on the CPU
  std::vector<std::unique_ptr<DeviceLane>> lanes;
  PlanSpread spread;

  std::vector<PlanNode> nodes;  // each after those that it reads, but for the back edges of loops
  std::vector<SlotInfo> slots;
  struct Feed {
    Slot slot;
    Node node;
    DataType dtype;              // DT_INVALID: any
    std::optional<Shape> shape;  // set: what a Placeholder expects
  };
  std::vector<Feed> feeds;
  std::vector<Slot> fetch_slots;  // kNoSlot: a node without outputs
  std::vector<std::pair<Node, Slot>> hooked_constants;
  bool hook_sees_inputs = false, hook_edits_outputs = false;

  std::vector<uint32_t> targets;  // SlotInfo's
  // By input, then by fetch: the constant that lies there in every run, kNoSlot if none does.
  std::vector<Slot> input_constants;
  uint32_t first_fetch = 0;     // the fetches follow the inputs of the last node
  bool has_references = false;  // inputs may be variables that stand for their values

  // The order in which one thread runs the nodes, and those that wait for nothing. Empty if there
  // are frames.
  std::vector<uint32_t> order, roots;
  std::optional<FramePlan> frames;  // of a graph with Switch, Merge or loops of single nodes

  // By node, of a kSend: the kRecv that receives what it sends.
  struct Receiver {
    int partition = -1;  // -1: nobody receives it
    uint32_t node = 0;
  };
  std::vector<Receiver> receivers;
  std::vector<bool> has_sender;  // by node, of a kRecv
  int partition = 0;             // number of this one; 0 if it is the whole graph

  std::unique_ptr<PlanStats> stats;

  // Errors: not as many as there are feeds, another dtype, a shape that a Placeholder refuses.
  Error CheckFeeds(llvm::ArrayRef<Tensor> values) const;
  // "node 'dense/MatMul' (MatMul, float, /device:CPU:0)": whose kernel an error is of.
  std::string Describe(const PlanNode& node) const;
  std::string NameOfFetch(size_t i) const;
  // Of kernels on the node's device.
  RunServices ServicesOn(const PlanNode& node) const;
  // Whether the next run goes by `order`, on the calling thread alone.
  bool RunsInOrder() const;
  int num_threads() const { return options.pool->num_threads(); }
};

// Finds the receivers of all sends among the partitions of a graph, by the attributes that both
// ends have. Errors: two nodes send the same, or receive it; ends of different dtypes.
Error LinkTransfers(llvm::ArrayRef<ExecutionPlan*> partitions);
// By id of a _Recv: the _Send of the same graph that it receives from.
llvm::DenseMap<NodeId, NodeId> SendersIn(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_H_
