// The findings of a policy's checks, and the effect of waivers on them.
#ifndef GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_
#define GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_

#include <string>
#include <vector>

#include "lib/check/policy/policy.h"

namespace grapnel {

struct PolicyFinding {
  std::string check;
  FindingSeverity severity = FindingSeverity::kError;
  std::string node;  // "function/node"; empty: the whole model
  // Sentences without a capital and a full stop: what was found, what was expected, what to do.
  std::string what, expected, advice;

  // Set by the caller of the checks.
  std::string scope;        // of the node; empty: it has no scope
  std::string source;       // "net.py:21 in loss_fn"; empty: unknown
  std::string source_file;  // of that line
  int source_line = 0;
  // Identifies the check and the computation of the node, so that it survives renaming.
  std::string fingerprint;
  const Waiver* waiver = nullptr;  // the waiver that applies
};

// Assigns each finding the first waiver that matches and has not expired on `today` ("2027-01-31").
// Adds a note for each waiver that has expired, that no finding needs, or whose check is not in the
// policy. Ignores waivers of other checks that are not in `looked`. `policy` is borrowed.
void ApplyWaivers(const Policy& policy, llvm::StringRef today, llvm::ArrayRef<std::string> looked,
                  std::vector<PolicyFinding>* findings);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_
