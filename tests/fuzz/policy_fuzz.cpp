// Policies of `check`: applies what was parsed to a finding of each check that it names.
#include <cstddef>
#include <cstdint>

#include "lib/policy/policy_checks.h"
#include "lib/policy/policy_finding.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  auto policy = Policy::Parse(bytes, "policy.toml", PolicyTables());
  if (!policy) {
    llvm::consumeError(policy.takeError());
    return 0;
  }
  std::vector<PolicyFinding> findings;
  std::vector<std::string> looked;
  for (const PolicyRule& rule : policy->rules) {
    looked.push_back(rule.check);
    PolicyFinding& finding = findings.emplace_back();
    finding.check = rule.check;
    finding.node = "scope/node";
  }
  ApplyWaivers(*policy, "2026-06-01", looked, &findings);
  return 0;
}
