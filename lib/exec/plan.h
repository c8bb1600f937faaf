// What the executor's parts share: a node that is ready to run. Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_PLAN_H_
#define GRAPNEL_LIB_EXEC_PLAN_H_

#include "lib/exec/frames.h"
#include "lib/exec/kernel.h"

namespace grapnel {

struct DeviceLane;  // lib/exec/device_lane.h

using Slot = uint32_t;  // one output of one node
constexpr Slot kNoSlot = ~Slot{0};

struct PlanNode {
  Node node;
  FlowKind flow = FlowKind::kKernel;
  Tensor constant;  // of FlowKind::kConstant
  KernelFn kernel;
  KernelCost cost = KernelCost::kCheap;
  llvm::SmallVector<Slot, 4> inputs;
  uint32_t first_arrival = 0;                  // where its inputs lie, one after the other
  llvm::SmallVector<DataType, 4> input_types;  // DT_INVALID: whatever comes, also a reference
  llvm::SmallVector<DataType, 2> output_types;
  Slot first_output = 0;
  llvm::SmallVector<uint32_t, 4> readers;  // plan nodes that wait for this one, once for each edge
  uint32_t waits_for = 0;
  bool hooked = false;
  bool puts_references = false;
  bool is_constant = false;    // a constant that runs: dead in a branch that is not taken
  bool told = false;           // and the hook has seen it
  DeviceLane* lane = nullptr;  // null: the CPU, as are copies to and from a device
  llvm::SmallVector<int, 1> host_outputs;  // KernelDef's
  // Nanoseconds when it was last measured: decides whether another thread is worth waking.
  int64_t last_time = 0;
  uint32_t runs = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_H_
