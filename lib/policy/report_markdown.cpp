#include "lib/policy/policy_report.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kMostRows = 30;

// Escapes a table cell.
std::string Cell(llvm::StringRef text) {
  std::string cell;
  for (char c : Printable(text)) {
    if (llvm::StringRef("|<>*_`[]\\&~$").contains(c)) cell += "\\";
    cell += c;
  }
  return cell;
}

void WriteTable(const PolicyReport& report, llvm::raw_ostream& os) {
  size_t shown = 0, left_out = 0;
  for (const PolicyFinding& finding : report.findings) {
    if (finding.waiver) continue;
    if (shown == kMostRows) {
      ++left_out;
      continue;
    }
    if (shown++ == 0) os << "\n| | check | where | what | expected |\n|---|---|---|---|---|\n";
    std::string where = finding.node.empty() ? finding.scope : finding.node;
    if (!finding.source.empty()) where += (where.empty() ? "" : ", ") + finding.source;
    if (where.empty()) where = "the model";
    os << "| " << FindingSeverityName(finding.severity) << " | " << Cell(finding.check) << " | "
       << Cell(where) << " | " << Cell(finding.what) << ". " << Cell(finding.advice) << ". | "
       << Cell(finding.expected) << " |\n";
  }
  if (left_out > 0) os << "\n" << left_out << " more are left out.\n";
}

void WriteBelow(const PolicyReport& report, llvm::raw_ostream& os) {
  // The findings by waiver: one waiver may cover thousands of findings.
  std::vector<std::pair<const Waiver*, std::vector<const PolicyFinding*>>> waived;
  for (const PolicyFinding& finding : report.findings) {
    if (!finding.waiver) continue;
    auto same = llvm::find_if(waived, [&](const auto& of) { return of.first == finding.waiver; });
    if (same == waived.end()) same = waived.insert(same, {finding.waiver, {}});
    same->second.push_back(&finding);
  }
  for (const auto& [waiver, findings] : waived) {
    std::string where = findings.front()->node;
    if (where.empty()) where = findings.front()->scope;
    os << "\nWaived until " << waiver->until << ": " << Cell(waiver->check) << " at "
       << (where.empty() ? "the model" : Cell(where));
    if (findings.size() > 1) os << " and " << findings.size() - 1 << " more";
    os << ", " << Cell(waiver->reason) << ".\n";
  }
}

}  // namespace

void WritePolicyMarkdown(const PolicyReport& report, llvm::StringRef picture,
                         llvm::raw_ostream& os) {
  os << "### grapnel check: " << PolicySummary(report) << "\n\n";
  if (report.verdict) os << "Verdict: " << Cell(report.verdict->text) << ".\n\n";
  os << Cell(report.model) << ", " << Plural(report.outcomes.size(), "check") << " of "
     << Cell(report.policy);
  if (!report.base.empty()) os << ", against " << Cell(report.base);
  os << "\n";
  WriteTable(report, os);
  WriteBelow(report, os);
  if (!report.drawing.empty()) os << "\n```mermaid\n" << report.drawing << "```\n";
  if (!picture.empty())
    os << "\nA picture of all changes is in " << Cell(picture)
       << ", among the artifacts of the run.\n";
}

}  // namespace grapnel
