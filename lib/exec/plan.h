// A plan: everything about running a graph that is known before it runs. Private to lib/exec.
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

// Statistics of a node over the runs of a plan. Relaxed: a time that is one run old is good enough.
struct NodeStats {
  // Nanoseconds of the last run: decides whether to wake another thread for the node.
  std::atomic<int64_t> last_time{0};
  std::atomic<uint32_t> num_runs{0};
  std::atomic<bool> is_reported{false};  // a constant that the hook has observed
};

struct PlanNode {
  // True if the node's last time is long enough to wake another thread for it.
  bool IsLong() const;
  bool Keeps(size_t i) const { return i < 32 && (kept_inputs >> i & 1); }

  Node node;
  FlowKind flow = FlowKind::kKernel;
  BoundKernel kernel;
  KernelCost cost = KernelCost::kCheap;
  llvm::SmallVector<Slot, 4> inputs;
  uint32_t first_input = 0;                    // its inputs in RunState::inputs_, adjacent
  llvm::SmallVector<DataType, 4> input_types;  // DT_INVALID: any, and references stay references
  llvm::SmallVector<DataType, 2> output_types;
  Slot first_output = 0;
  llvm::SmallVector<uint32_t, 4> readers;  // nodes that wait for this one, once for each edge
  uint32_t waits_for = 0;                  // edges from nodes that this one waits for
  uint32_t kept_inputs = 0;  // bits: constants that the kernel keeps itself (KernelDef::keeps)
  bool hooked = false;
  bool puts_references = false;
  // A constant that runs like a node, because it is dead when its branch is not taken.
  bool is_constant = false;
  DeviceLane* lane = nullptr;              // null: the CPU, also for copies to and from a device
  llvm::SmallVector<int, 1> host_outputs;  // from the KernelDef
  NodeStats* stats = nullptr;              // points into PlanStats
  // All nodes of a fusion (lib/exec/fusion.h), the last of which is `node`; empty if the step is
  // `node` alone.
  std::vector<Node> stands_for;
};

struct SlotInfo {
  Tensor constant;  // set: the same in every run
  bool is_reference = false;
  DeviceLane* lane = nullptr;  // the lane of its memory; null: the host's
  // The inputs that read it: [first_target, end_target) of ExecutionPlan::targets.
  uint32_t first_target = 0, end_target = 0;
};

// The mutable state that all runs of a plan share.
struct PlanStats {
  explicit PlanStats(size_t num_nodes) : nodes(std::make_unique<NodeStats[]>(num_nodes)) {}

  std::unique_ptr<NodeStats[]> nodes;
  std::atomic<bool> may_have_long_nodes{false};
  std::atomic<bool> has_reported_constants{false};  // the hook has observed hooked_constants
};

// Made by PlanBuilder and immutable afterwards: any number of RunStates read it at the same time,
// without a lock. A kernel that keeps state between runs locks it itself.
struct ExecutionPlan {
  const Graph* graph = nullptr;
  ExecutorOptions options;
  std::unique_ptr<Session> own_session;
  std::unique_ptr<Allocator> allocator;
  std::optional<RunServices> services;  // for kernels on the CPU
  std::vector<std::unique_ptr<DeviceLane>> lanes;
  PlanSpread spread;

  std::vector<PlanNode> nodes;  // each after those that it reads, except along back edges of loops
  std::vector<SlotInfo> slots;
  struct Feed {
    Slot slot;
    Node node;
    DataType dtype;              // DT_INVALID: any
    std::optional<Shape> shape;  // if set: the shape that a Placeholder expects
  };
  std::vector<Feed> feeds;
  std::vector<Slot> fetch_slots;  // kNoSlot: a node without outputs
  std::vector<std::pair<Node, Slot>> hooked_constants;
  bool hook_sees_inputs = false, hook_edits_outputs = false;

  std::vector<uint32_t> targets;  // see SlotInfo
  // By input, then by fetch: the constant that is there in every run, or kNoSlot.
  std::vector<Slot> input_constants;
  uint32_t first_fetch = 0;     // the fetches follow the inputs of the last node
  bool has_references = false;  // inputs may be variables that stand for their values

  // The order in which one thread runs the nodes, and the nodes that wait for nothing. Empty if
  // there are frames.
  std::vector<uint32_t> order, roots;
  std::optional<FramePlan> frames;  // for a graph with Switch, Merge or loops of single nodes

  // By node, for a kSend: the kRecv that receives its value.
  struct Receiver {
    int partition = -1;  // -1: no receiver
    uint32_t node = 0;
  };
  std::vector<Receiver> receivers;
  std::vector<bool> has_sender;  // by node, for a kRecv
  int partition = 0;             // its number; 0 if the plan is for the whole graph

  std::unique_ptr<PlanStats> stats;

  // Errors: a wrong number of values, a wrong dtype, a shape that does not fit the Placeholder.
  Error CheckFeeds(llvm::ArrayRef<Tensor> values) const;
  // Returns "node 'dense/MatMul' (MatMul, float, /device:CPU:0)", for errors of its kernel.
  std::string Describe(const PlanNode& node) const;
  std::string NameOfFetch(size_t i) const;
  // Returns the services for kernels on the node's device.
  RunServices ServicesOn(const PlanNode& node) const;
  // True if the next run follows `order` on the calling thread alone.
  bool RunsInOrder() const;
  int num_threads() const { return options.pool->num_threads(); }
};

// Finds the receivers of all sends among the partitions of a graph, by the attributes that both
// ends have. Errors: two nodes send or receive the same value; the ends have different dtypes.
Error LinkTransfers(llvm::ArrayRef<ExecutionPlan*> partitions);
// Returns, by id of a _Recv, the _Send of the same graph that it receives from.
llvm::DenseMap<NodeId, NodeId> SendersIn(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_H_
