// The findings of a policy's checks, and the effect of waivers on them.
#ifndef GRAPNEL_LIB_POLICY_POLICY_FINDING_H_
#define GRAPNEL_LIB_POLICY_POLICY_FINDING_H_

#include <string>
#include <vector>

#include "lib/policy/policy.h"

namespace grapnel {

struct PolicyFinding {
  std::string check;
  FindingSeverity severity = FindingSeverity::kError;
  // "function/node", a variable or a function; empty: the scope, or the whole model
  std::string node;
  // Further places of the same finding: "serve/scores", beside the node "serving_default/scores".
  std::vector<std::string> also;
  // Sentences without a capital letter or a period: the problem, what was expected, what to do.
  std::string what, expected, advice;

  // The place of the finding. CheckModel sets the source and the fingerprint after the check.
  std::string scope;        // around the node; without a node, the scope with the problem
  std::string source;       // "net.py:21 in loss_fn", or a waiver's line; empty: unknown
  std::string source_file;  // the file of `source`
  int source_line = 0;
  // A hash of the check and of the node's computation, which identifies the finding even after the
  // node is renamed.
  std::string fingerprint;
  const Waiver* waiver = nullptr;  // the waiver that applies; null: none
};

// Assigns each finding the first waiver that matches all of its places and has not expired on
// `today` ("2027-01-31").
// Adds a note for each waiver that has expired, that matches no finding, or whose check is not in
// the policy. Does not judge waivers of checks that are not in `looked`, the checks that ran. The
// findings refer to `policy`.
void ApplyWaivers(const Policy& policy, llvm::StringRef today, llvm::ArrayRef<std::string> looked,
                  std::vector<PolicyFinding>* findings);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_POLICY_FINDING_H_
