// Fuses steps of a plan (lib/exec/fusion.h) before its readers and order are determined.
// Private to lib/exec.
#ifndef GRAPNEL_LIB_EXEC_PLAN_FUSION_H_
#define GRAPNEL_LIB_EXEC_PLAN_FUSION_H_

#include <vector>

#include "lib/exec/plan.h"

namespace grapnel {

// Facts about a plan's steps that the plan does not hold.
struct FusionFacts {
  std::vector<int64_t> maker;       // by slot: the step that computes it; -1: none
  std::vector<bool> is_waited_for;  // by step: a control edge leads from the step to another
  std::vector<bool> waits;          // by step: a control edge leads from another to the step
};

// Applies the registered finders to `plan`, and drops its constants that are no longer read.
// Returns the new index of each step; fused steps get the index of their fusion. Returns an empty
// vector if no step was fused. Not for plans with frames, or with a device beside the CPU.
std::vector<uint32_t> FuseSteps(ExecutionPlan& plan, const FusionFacts& facts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_FUSION_H_
