// Fingerprints that identify findings across versions of a model. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_FINGERPRINTS_H_
#define GRAPNEL_LIB_POLICY_FINGERPRINTS_H_

#include <vector>

#include "lib/ir/module.h"
#include "lib/policy/policy_finding.h"

namespace grapnel {

// Sets each fingerprint to a hash of the check and of the node's computation: the ops, attributes
// and constant shapes of the node and of all nodes that it depends on. Names and weights do not
// count. If a finding has no node in the graph, the name of its variable or scope is hashed
// instead. Among findings with the same hash, the number of the finding is hashed too, so that all
// fingerprints differ.
void AddFingerprints(const Module& module, std::vector<PolicyFinding>* findings);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_FINGERPRINTS_H_
