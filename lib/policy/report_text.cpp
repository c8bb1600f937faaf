#include <map>

#include "lib/policy/policy_report.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr int kMostOfOne = 2;
constexpr int kMostShown = 6;

void WriteFindingText(const PolicyFinding& finding, llvm::raw_ostream& os) {
  std::string where = finding.node;
  if (where.empty()) where = finding.scope.empty() ? "the model" : finding.scope + "/";
  os << "\n"
     << FindingSeverityName(finding.severity) << ": " << where << " (" << finding.check << ")\n";
  if (!finding.source.empty()) os << "  at " << finding.source << "\n";
  os << "  " << finding.what << "\n  expected: " << finding.expected << "\n  do: " << finding.advice
     << "\n";
}

void WriteFindings(const PolicyReport& report, bool all, llvm::raw_ostream& os) {
  std::map<std::string, int> of_check, left_out;
  int shown = 0;
  for (const PolicyFinding& finding : report.findings) {
    if (finding.waiver) continue;
    bool fits = ++of_check[finding.check] <= kMostOfOne && shown < kMostShown;
    if (!all && !fits) {
      ++left_out[finding.check];
      continue;
    }
    ++shown;
    WriteFindingText(finding, os);
  }
  std::string rest;
  for (const auto& [check, count] : left_out)
    rest += (rest.empty() ? "" : ", ") + std::to_string(count) + " of " + check;
  if (!rest.empty()) os << "\n... and " << rest << " (--all)\n";
}

void WriteWaived(const PolicyReport& report, llvm::raw_ostream& os) {
  std::map<const Waiver*, size_t> waived;
  for (const PolicyFinding& finding : report.findings) {
    if (finding.waiver) ++waived[finding.waiver];
  }
  if (waived.empty()) return;
  std::vector<std::vector<std::string>> rows;
  rows.reserve(waived.size());
  for (const auto& [waiver, count] : waived)
    rows.push_back(
        {std::to_string(count) + " of " + waiver->check, "until " + waiver->until, waiver->reason});
  os << "\nwaived:\n" << Table(rows, "  ");
}

}  // namespace

std::string PolicySummary(const PolicyReport& report) {
  std::string text;
  for (auto severity :
       {FindingSeverity::kError, FindingSeverity::kWarning, FindingSeverity::kNote}) {
    if (size_t count = report.Count(severity))
      text += (text.empty() ? "" : ", ") + Plural(count, FindingSeverityName(severity));
  }
  return text.empty() ? "nothing found" : text;
}

void WritePolicyText(const PolicyReport& report, bool all, llvm::raw_ostream& os) {
  if (report.verdict) os << "verdict: " << report.verdict->text << "\n";
  os << "check: " << PolicySummary(report) << " in " << report.model << " ("
     << Plural(report.outcomes.size(), "check") << " of " << report.policy;
  if (!report.base.empty()) os << ", against " << report.base;
  os << ")\n";
  WriteFindings(report, all, os);
  WriteWaived(report, os);
}

}  // namespace grapnel
