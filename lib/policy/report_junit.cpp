#include "lib/policy/policy_report.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string Xml(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(Printable(text), os);
  return escaped;
}

std::string FindingPlace(const PolicyFinding& finding) {
  std::string text = finding.node.empty() ? finding.scope : finding.node;
  if (!finding.source.empty()) text += (text.empty() ? "" : " at ") + finding.source;
  return text;
}

// Writes a finding as a failure of the test case.
void WriteFailure(const PolicyFinding& finding, llvm::raw_ostream& os) {
  os << "      <failure type=\"" << Xml(finding.check) << "\" message=\""
     << Xml(FindingPlace(finding)) << ": " << Xml(finding.what)
     << "\">expected: " << Xml(finding.expected) << "; do: " << Xml(finding.advice)
     << "</failure>\n";
}

bool Fails(const PolicyReport& report, llvm::StringRef check) {
  return llvm::any_of(report.findings, [&](const PolicyFinding& finding) {
    return check == finding.check && finding.severity == FindingSeverity::kError && !finding.waiver;
  });
}

void WriteCase(llvm::StringRef check, llvm::StringRef reason, const PolicyReport& report,
               llvm::raw_ostream& os) {
  os << "    <testcase classname=\"grapnel.check\" name=\"" << Xml(check) << "\">\n";
  if (!reason.empty() && !Fails(report, check))
    os << "      <skipped message=\"" << Xml(reason) << "\"/>\n";
  std::string beside;
  for (const PolicyFinding& finding : report.findings) {
    if (check != finding.check) continue;
    if (finding.severity == FindingSeverity::kError && !finding.waiver) {
      WriteFailure(finding, os);
      continue;
    }
    const char* kind = finding.waiver ? "waived" : FindingSeverityName(finding.severity);
    beside += Sentence("{0}: {1}: {2}\n", kind, FindingPlace(finding), finding.what);
  }
  if (!beside.empty()) {
    os << "      <system-out>";
    for (llvm::StringRef rest = beside; !rest.empty();) {
      auto [line, after] = rest.split('\n');
      os << Xml(line) << "\n";
      rest = after;
    }
    os << "</system-out>\n";
  }
  os << "    </testcase>\n";
}

}  // namespace

void WritePolicyJunit(const PolicyReport& report, llvm::raw_ostream& os) {
  size_t skipped = 0, failed = report.Count(FindingSeverity::kError);
  for (const PolicyOutcome& outcome : report.outcomes)
    skipped += !outcome.reason.empty() && !Fails(report, outcome.check);
  // There is one more test case, for the waivers.
  size_t tests = report.outcomes.size() + 1;
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << "<testsuites tests=\"" << tests << "\" failures=\"" << failed << "\" errors=\"0\">\n"
     << "  <testsuite name=\"" << Xml(report.model) << "\" tests=\"" << tests << "\" failures=\""
     << failed << "\" errors=\"0\" skipped=\"" << skipped << "\">\n";
  if (report.verdict) {
    os << "    <properties>\n      <property name=\"verdict\" value=\"" << Xml(report.verdict->text)
       << "\"/>\n    </properties>\n";
  }
  for (const PolicyOutcome& outcome : report.outcomes)
    WriteCase(outcome.check, outcome.reason, report, os);
  WriteCase("waiver", "", report, os);
  os << "  </testsuite>\n</testsuites>\n";
}

}  // namespace grapnel
