// Makes a plan from a graph, feeds and fetches. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_PLAN_BUILDER_H_
#define GRAPNEL_LIB_EXEC_PLAN_BUILDER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// Finds the nodes that the fetches need, adds these nodes to the plan one after the other, and
// links each to its readers and to the nodes that wait for it. There is one function for each kind
// of node.
class PlanBuilder {
 public:
  // Errors: see Executor::Compile and Executor::CompileFunction.
  static Expected<std::unique_ptr<const ExecutionPlan>> OfGraph(const Graph& graph,
                                                                const ExecutorOptions& options);
  static Expected<std::unique_ptr<const ExecutionPlan>> OfFunction(const Function& function,
                                                                   const ExecutorOptions& options);
  // Makes the plan of a partition. Call LinkTransfers on the plans of all partitions to link their
  // sends and receives.
  static Expected<std::unique_ptr<ExecutionPlan>> OfPartition(const Graph& graph,
                                                              const ExecutorOptions& options);

 private:
  PlanBuilder(const Graph& graph, const ExecutorOptions& options);
  Expected<std::unique_ptr<ExecutionPlan>> Build(llvm::ArrayRef<Port> feeds,
                                                 llvm::ArrayRef<Port> fetches,
                                                 llvm::ArrayRef<NodeId> targets,
                                                 llvm::ArrayRef<DataType> types = {});

  // --- plan_builder.cpp: the plan as a whole.
  Error FindNeeded(llvm::ArrayRef<Port> fetches, llvm::ArrayRef<NodeId> targets);
  bool IsFedPlaceholder(Port port) const;
  void FindTraits();
  Error OpenLanes();
  Error AddFetch(Port fetch);
  void KeepOrder(const Node& node);
  void AddEdge(uint32_t from, uint32_t to);
  void Fuse();
  void LinkReaders();
  void FindOrder();
  Error LinkFrames();
  Expected<FlowNode> FlowNodeOf(uint32_t id);
  void LinkInputs();
  void LeaveToKernels();
  void LendServices();
  Error Missing() const;

  // --- plan_nodes.cpp: one node. Each Add function adds the node or its value to the plan. If the
  // node lacks a kernel or a fed value, it adds the reason to missing_; it returns other problems
  // as errors.

  // The inputs of a node that has a kernel.
  struct KernelInputs {
    llvm::SmallVector<DataType, 4> types;
    llvm::SmallVector<const Tensor*, 4> constants;  // by input; null: no constant
    bool are_constant = false;                      // there are inputs, and all are constant
  };
  void AddFeed(Port feed, DataType type);
  Error AddNode(const Node& node);
  Error AddConstant(const Node& node);
  Error Align(Slot slot);
  Error FindKept(const KernelDef& def, PlanNode* plan, KernelInputs* inputs);
  void AddConstantOfBranch(PlanNode plan, Tensor value);
  Error AddUnfedPlaceholder(const Node& node);
  Error AddUnfedArgument(const Node& node);
  Error AddControlFlow(PlanNode plan);
  bool AddAsItsInput(const Node& node);
  Error AddKernel(PlanNode plan, KernelInputs inputs);
  bool AddComputedOnce(PlanNode& plan);
  Expected<bool> AddOnDevice(PlanNode& plan, const KernelInputs& inputs);
  Error AddOnCpu(PlanNode plan);
  FlowKind KindOf(const PlanNode& plan) const;
  Error ReadTypes(PlanNode* plan, KernelInputs* inputs) const;
  Expected<bool> FindInputs(PlanNode* plan, KernelInputs* inputs);
  void AddMissingKernel(const Node& node);
  Error BringInputs(PlanNode& plan, const KernelDef* def);
  Expected<Slot> InMemoryOf(DeviceLane* to, Slot slot, DataType type, const Node& maker);

  static uint64_t Key(Port port) {
    return static_cast<uint64_t>(port.node) << 32 | static_cast<uint32_t>(port.index);
  }
  Slot NewSlot();
  // Assigns the slot to an output of a node, unless the output is fed.
  void Bind(Port port, Slot slot) { slot_of_.try_emplace(Key(port), slot); }
  void AddPlanNode(PlanNode plan);
  void AppendToPlan(PlanNode plan);

  const Graph& graph_;
  std::unique_ptr<ExecutionPlan> plan_;
  llvm::DenseSet<uint64_t> fed_;            // by Key
  std::vector<NodeId> fed_nodes_;           // in the order of the feeds
  std::vector<bool> needed_;                // by NodeId
  bool has_flow_ = false;                   // a FrameRunner runs the graph
  bool may_keep_ = false;                   // kernels may become the only owners of constants
  bool has_references_ = false;             // has_flow_, and the graph has references to variables
  llvm::DenseMap<uint64_t, Slot> slot_of_;  // by Key
  llvm::DenseMap<NodeId, uint32_t> plan_of_;    // the node's, or that of the input it forwards
  llvm::DenseMap<NodeId, Tensor> flow_values_;  // for FlowKind::kConstant
  struct Borrowed {                             // a constant that shares the graph's memory
    Slot slot;
    NodeId node;
    Tensor value;
  };
  std::vector<Borrowed> borrowed_;
  // By node, plan nodes to wait for. A node without a plan node (a constant, or one already
  // computed) cannot wait: its readers wait for the nodes in handed_on_. A plan node waits for the
  // nodes in waits_too_ in addition to its inputs.
  llvm::DenseMap<NodeId, llvm::SmallVector<uint32_t, 4>> handed_on_, waits_too_;
  std::vector<int64_t> maker_;  // by slot: the plan node that computes it; -1: a feed or constant
  std::map<std::pair<Slot, DeviceLane*>, Slot> copies_;
  std::vector<std::string> missing_;  // the problems that keep the graph from running
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_BUILDER_H_
