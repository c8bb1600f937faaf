// What a check of a policy finds, and what a waiver makes of it.
#ifndef GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_
#define GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_

#include <string>
#include <vector>

#include "lib/check/policy/policy.h"

namespace grapnel {

struct PolicyFinding {
  std::string check;
  FindingSeverity severity = FindingSeverity::kError;
  std::string node;  // "function/node"; empty: it is of the whole model
  // Sentences without a capital and a full stop: what is there, what was expected, what to do.
  std::string what, expected, advice;

  // Made by who runs the checks.
  std::string scope;        // that the node is in; empty: none
  std::string source;       // "net.py:21 in loss_fn"; empty: the graph does not say
  std::string source_file;  // of that line
  int source_line = 0;
  // Of the check and of what the node computes, so that it stays when names change.
  std::string fingerprint;
  const Waiver* waiver = nullptr;  // that it falls under
};

// Gives each finding the first waiver that fits and has not run out on `today` ("2027-01-31"), and
// adds a note for each waiver that has run out, that no finding needs, or whose check the policy
// does not demand. Waivers of other checks that are not `looked` at are left aside. `policy` is
// borrowed.
void ApplyWaivers(const Policy& policy, llvm::StringRef today, llvm::ArrayRef<std::string> looked,
                  std::vector<PolicyFinding>* findings);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_POLICY_POLICY_FINDING_H_
