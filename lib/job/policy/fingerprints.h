// What findings are known by from one version of a model to the next. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_FINGERPRINTS_H_
#define GRAPNEL_LIB_JOB_POLICY_FINGERPRINTS_H_

#include <vector>

#include "lib/check/policy/policy_finding.h"
#include "lib/ir/module.h"

namespace grapnel {

// A hash of the check and of what the node computes: ops, attributes, and shapes of constants, back
// to the inputs. No name takes part, and no weight. Of findings that are alike in that the second
// counts as the second.
void AddFingerprints(const Module& module, std::vector<PolicyFinding>* findings);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_FINGERPRINTS_H_
