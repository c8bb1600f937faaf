// Joins steps of a plan (lib/exec/fusion.h) before readers and order are found. Private to
// lib/exec.
#ifndef GRAPNEL_LIB_EXEC_PLAN_FUSION_H_
#define GRAPNEL_LIB_EXEC_PLAN_FUSION_H_

#include <vector>

#include "lib/exec/plan.h"

namespace grapnel {

// What is known of a plan's steps beside the plan.
struct FusionFacts {
  std::vector<int64_t> maker;       // by slot: the step that makes it; -1: none
  std::vector<bool> is_waited_for;  // by step: another one waits for it without reading it
  std::vector<bool> waits;          // by step: it waits for another one without reading it
};

// Joins what the registered finders find, in `plan`, whose constants that are not read any more
// go. Gives the new number of each step: that of the fusion for those that it stands for. Empty: no
// step was joined. Not for plans with frames, or with a device beside the CPU.
std::vector<uint32_t> FuseSteps(ExecutionPlan& plan, const FusionFacts& facts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PLAN_FUSION_H_
