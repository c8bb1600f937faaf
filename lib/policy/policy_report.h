// Formats the result of a policy check as text, and for other tools.
#ifndef GRAPNEL_LIB_POLICY_POLICY_REPORT_H_
#define GRAPNEL_LIB_POLICY_POLICY_REPORT_H_

#include "lib/policy/check_policy.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns "2 errors, 1 warning", or "nothing found". Waived findings do not count.
std::string PolicySummary(const PolicyReport& report);

// Writes at most two findings of each check and six altogether; with `all`, all of them. Then lists
// how many findings each waiver covers.
void WritePolicyText(const PolicyReport& report, bool all, llvm::raw_ostream& os);
// Writes attributes into the open JSON object: "passes", "findings", "checks", ...; see
// docs/guide/checking.md.
void WritePolicyJson(const PolicyReport& report, llvm::json::OStream& json);
// Writes one test case per check and one for the waivers, in the format of Jenkins' xunit plugin
// (junit-10.xsd).
void WritePolicyJunit(const PolicyReport& report, llvm::raw_ostream& os);
// Writes SARIF 2.1.0. A finding is located at its PolicyFinding::source if that is known, else in
// the model's file.
void WritePolicySarif(const PolicyReport& report, llvm::raw_ostream& os);
// Writes Markdown for a pull request: the first 30 findings, a line for each waiver, and the
// drawing. `picture`: a file next to the Markdown file that shows all changes; empty: there is no
// such file.
void WritePolicyMarkdown(const PolicyReport& report, llvm::StringRef picture,
                         llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_POLICY_REPORT_H_
