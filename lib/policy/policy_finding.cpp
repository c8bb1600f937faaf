#include "lib/policy/policy_finding.h"

#include <set>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

PolicyFinding OfWaiver(const Policy& policy, const Waiver& waiver, llvm::StringRef what,
                       std::string expected, std::string advice) {
  PolicyFinding finding;
  finding.check = "waiver";
  finding.severity = FindingSeverity::kNote;
  finding.what =
      Sentence("the waiver of {0} for '{1}' {2}", waiver.check, waiver.node.text(), what);
  finding.expected = std::move(expected);
  finding.advice = std::move(advice);
  finding.source = finding.source_file = policy.path;
  finding.source_line = waiver.line;
  finding.source += ":" + std::to_string(waiver.line);
  return finding;
}

}  // namespace

void ApplyWaivers(const Policy& policy, llvm::StringRef today, llvm::ArrayRef<std::string> looked,
                  std::vector<PolicyFinding>* findings) {
  std::set<const Waiver*> needed;
  for (PolicyFinding& finding : *findings) {
    for (const Waiver& waiver : policy.waivers) {
      const std::string& place = finding.node.empty() ? finding.scope : finding.node;
      auto fits = [&](const std::string& at) { return waiver.node.Fits(at); };
      if (waiver.check != finding.check) continue;
      if (!fits(place) && llvm::none_of(finding.also, fits)) continue;
      needed.insert(&waiver);
      if (!fits(place) || !llvm::all_of(finding.also, fits)) continue;
      if (!finding.waiver && today <= waiver.until) finding.waiver = &waiver;
    }
  }
  for (const Waiver& waiver : policy.waivers) {
    bool is_demanded = llvm::any_of(
        policy.rules, [&](const PolicyRule& rule) { return rule.check == waiver.check; });
    if (!is_demanded) {
      findings->push_back(OfWaiver(policy, waiver, "is for a check that the policy does not have",
                                   "a table [" + waiver.check + "] in the policy",
                                   "add the table, or remove the waiver"));
    }
    if (!llvm::is_contained(looked, waiver.check)) continue;
    if (!needed.count(&waiver)) {
      findings->push_back(OfWaiver(policy, waiver, "is not needed", "a finding to waive",
                                   "remove it from the policy"));
    } else if (today > waiver.until) {
      findings->push_back(OfWaiver(policy, waiver, "expired on " + waiver.until,
                                   "a day in the future",
                                   "fix the findings, or give it a later day and a reason"));
    }
  }
}

}  // namespace grapnel
