// The changes from BASE, in one sentence. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_CHANGE_VERDICT_H_
#define GRAPNEL_LIB_POLICY_CHANGE_VERDICT_H_

#include "lib/policy/check_policy.h"
#include "lib/policy/checked_model.h"

namespace grapnel {

// Compares the model with its base, which must be there: the interface of the signatures; and of
// the graph that each signature runs, or else of the whole graph, the structure, the values of
// variables and constants, and the names. Numbers in names that a program gives anew each time it
// builds a model do not count as other names. Values that cannot be read are not compared, which
// the sentence says if nothing else changed.
ChangeVerdict JudgeChange(CheckedModel& model);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_CHANGE_VERDICT_H_
