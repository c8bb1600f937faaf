// The plan of a graph: everything about its execution that is known before the first run.
// Private to lib/exec.
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

using Slot = uint32_t;  // identifies a value: an output of a node, a feed, a copy
constexpr Slot kNoSlot = ~Slot{0};

// Statistics of a node over the runs of a plan. Accesses use relaxed order: a time that is one run
// old is good enough.
struct NodeStats {
  // The duration of the node's last measured execution in nanoseconds, which decides whether to
  // wake another thread for it.
  std::atomic<int64_t> last_time{0};
  std::atomic<uint32_t> num_runs{0};
  std::atomic<bool> is_reported{false};  // a run reports, or has reported, this constant
};

struct PlanNode {
  // True if the kernel's cost is kElements, and its last time is long enough to wake another thread
  // for it.
  bool IsLong() const;
  bool Keeps(size_t i) const { return i < 32 && (kept_inputs >> i & 1); }

  Node node;
  FlowKind flow = FlowKind::kKernel;
  BoundKernel kernel;
  KernelCost cost = KernelCost::kCheap;
  llvm::SmallVector<Slot, 4> inputs;
  uint32_t first_input = 0;                    // index of the node's inputs in RunState::inputs_
  llvm::SmallVector<DataType, 4> input_types;  // DT_INVALID: any, or a reference
  llvm::SmallVector<DataType, 2> output_types;
  Slot first_output = 0;
  llvm::SmallVector<uint32_t, 4> readers;  // nodes that wait for this one, once for each edge
  uint32_t waits_for = 0;                  // number of edges from nodes that this one waits for
  uint32_t kept_inputs = 0;  // bits: constants that the kernel keeps itself (KernelDef::keeps)
  bool hooked = false;
  bool puts_references = false;
  // True for a constant in a branch, if a hook wants the constant. It runs like a node, because it
  // is dead when the branch is not taken.
  bool is_constant = false;
  DeviceLane* lane = nullptr;              // null: the CPU, also for copies to and from a device
  llvm::SmallVector<int, 1> host_outputs;  // from the KernelDef
  NodeStats* stats = nullptr;              // points into PlanStats
  // All nodes of a fusion (lib/exec/fusion.h), the last of which is `node`; empty if the step is
  // `node` alone.
  std::vector<Node> stands_for;
};

struct SlotInfo {
  Tensor constant;  // if set: the value, which is the same in every run
  bool is_reference = false;
  DeviceLane* lane = nullptr;  // the lane of its memory; null: the host's
  // The inputs that read the slot: [first_target, end_target) of ExecutionPlan::targets.
  uint32_t first_target = 0, end_target = 0;
};

// The mutable state that all runs of a plan share.
struct PlanStats {
  explicit PlanStats(size_t num_nodes) : nodes(std::make_unique<NodeStats[]>(num_nodes)) {}

  std::unique_ptr<NodeStats[]> nodes;
  std::atomic<bool> may_have_long_nodes{false};
  std::atomic<size_t> num_reported_constants{0};  // of hooked_constants, those the hook observed
};

// Made by PlanBuilder and LinkTransfers, and immutable afterwards: any number of RunStates read the
// plan at the same time, without a lock. A kernel that keeps state between runs locks it itself.
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
    std::optional<Shape> shape;  // if set: the shape that the graph expects
  };
  std::vector<Feed> feeds;
  std::vector<Slot> fetch_slots;  // kNoSlot: the node must run, no value is fetched
  std::vector<std::pair<Node, Slot>> hooked_constants;
  bool hook_sees_inputs = false, hook_edits_outputs = false;

  std::vector<uint32_t> targets;  // positions in RunState::inputs_, grouped by slot (see SlotInfo)
  // For each position in RunState::inputs_ (the inputs, then the fetches): the slot of the constant
  // that it holds in every run, or kNoSlot.
  std::vector<Slot> input_constants;
  uint32_t first_fetch = 0;     // the fetches follow the inputs of the last node
  bool has_references = false;  // inputs may be references to variables

  // `order` is the order in which one thread runs the nodes, `roots` the nodes that need not wait
  // for another node. Both are empty if there are frames.
  std::vector<uint32_t> order, roots;
  // For a partition, and for a graph with Switch, Merge, loops of single nodes, sends, receives or
  // collectives.
  std::optional<FramePlan> frames;

  // By node, for a kSend: the kRecv that receives its value.
  struct Receiver {
    int partition = -1;  // -1: no receiver
    uint32_t node = 0;
  };
  std::vector<Receiver> receivers;
  std::vector<bool> has_sender;  // by node, for a kRecv
  int partition = 0;             // index of the plan's partition; 0 for a whole graph

  std::unique_ptr<PlanStats> stats;

  // Errors: a wrong number of values, or a value with a wrong dtype, or with a shape that does not
  // fit the Placeholder or argument. Accepts an empty tensor.
  Error CheckFeeds(llvm::ArrayRef<Tensor> values) const;
  // Returns "node 'dense/MatMul' (MatMul, float, /device:CPU:0)", as the prefix of the kernel's
  // errors.
  std::string Describe(const PlanNode& node) const;
  std::string NameOfFetch(size_t i) const;
  // Returns the services for the kernel of a node on a device, which has a `lane`.
  RunServices ServicesOn(const PlanNode& node) const;
  // True if the next run follows `order` on the calling thread alone.
  bool RunsInOrder() const;
  int num_threads() const { return options.pool->num_threads(); }
};

// Finds the _Recv of each _Send among the partitions of a graph, by the attributes that identify a
// transfer. Errors: two nodes send or receive the same value; a _Send and its _Recv have different
// dtypes.
Error LinkTransfers(llvm::ArrayRef<ExecutionPlan*> partitions);
// Returns a map from each _Recv to its _Send, for pairs within this graph.
llvm::DenseMap<NodeId, NodeId> SendersIn(const Graph& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_H_
